// Package openapi holds the two OpenAPI 3.2 documents that the server is built from, and
// reads them as data.
//
// openai.yaml and anthropic.yaml are written by hand; each describes the whole wire format
// of its style, once. From them come the types, server interfaces and constructors in gen
// (see the generate lines below), the client of engine/upstream, the checks of requests,
// replies and event streams, the support matrix and the reference pages.
//
// A support mark (x-support) records what the service's own interface document says of a
// field and what this server does with it. The server obeys it: a field is refused because
// its mark says so. See [Mark].
//
// Replies have their fields in the order of the documents, which is how people read them.
// The generator sorts fields by name; x-order says which ones come first.
package openapi

//go:generate go tool -modfile=../tools/tools.mod oapi-codegen -config openai.cfg.yaml openai.yaml
//go:generate go tool -modfile=../tools/tools.mod oapi-codegen -config anthropic.cfg.yaml anthropic.yaml
//go:generate go run ../tools/constructors openai.yaml ../gen/openai/openai.gen.go ../gen/openai/constructors.gen.go
//go:generate go run ../tools/constructors anthropic.yaml ../gen/anthropic/anthropic.gen.go ../gen/anthropic/constructors.gen.go
//go:generate go run ../tools/unions ../gen/openai/openai.gen.go
//go:generate go run ../tools/unions ../gen/anthropic/anthropic.gen.go
