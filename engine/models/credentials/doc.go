// Package credentials stores which remote servers the user trusts, and their API
// keys. A Modelfile names the server of a remote model, but it may come from
// anyone, so it must not decide where prompts and keys go: only this file does.
//
// The file is JSON, readable only by its owner:
//
//	{"version": 1, "hosts": {"api.example.com:443": {"key": "..."}, "localhost:8080": {}}}
//
// A host always has a port, because two services of one machine are two hosts.
// "variable" in place of "key" names an environment variable with the key.
package credentials
