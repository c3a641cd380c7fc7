// Package openapi holds the two OpenAPI 3.2 documents that the server is made
// from, and reads them as data.
//
// openai.yaml and anthropic.yaml are written by hand; each says everything
// about the wire of its style, once. From them come the types, server
// interfaces and constructors in gen (by the generate lines below), the client that
// engine/upstream asks other servers with, the checking of requests, replies
// and event streams, and the support matrix and reference pages.
//
// Beside what OpenAPI defines, the documents carry marks (x-support) that say
// of each field what the service's own interface document says of it and what
// this server does with it. A mark is obeyed, not only printed: a field is
// refused because its mark says so. See [Mark].
//
// Members of replies are written in the order in which the documents list
// them, which is how people read them. The generator sorts members by name;
// x-order says which ones come first.
package openapi

//go:generate go tool -modfile=../tools/tools.mod oapi-codegen -config openai.cfg.yaml openai.yaml
//go:generate go tool -modfile=../tools/tools.mod oapi-codegen -config anthropic.cfg.yaml anthropic.yaml
//go:generate go run ../tools/constructors openai.yaml ../gen/openai/openai.gen.go ../gen/openai/constructors.gen.go
//go:generate go run ../tools/constructors anthropic.yaml ../gen/anthropic/anthropic.gen.go ../gen/anthropic/constructors.gen.go
//go:generate go run ../tools/unions ../gen/openai/openai.gen.go
//go:generate go run ../tools/unions ../gen/anthropic/anthropic.gen.go
