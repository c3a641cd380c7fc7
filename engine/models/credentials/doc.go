// Package credentials keeps which other servers the local user trusts, and the
// key for each. A model may come from anywhere, and its definition says where
// it is served; so the definition alone must never decide where requests and
// keys go. It names a host, and only what the user wrote into this file on
// their own machine lets the server talk to that host, with a key or without.
//
// The file is JSON, readable by its owner alone:
//
//	{"version": 1, "hosts": {"api.example.com:443": {"key": "..."}, "localhost:8080": {}}}
//
// A host always has a port: two services of one machine are two hosts. Instead
// of a key there may be the name of an environment variable that holds it.
package credentials
