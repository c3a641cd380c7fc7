module github.com/diglot/diglot

go 1.27.0

toolchain go1.27.3

require (
	github.com/ardanlabs/jinja v1.12.0 // renders the chat templates that models carry; the one Go library that renders the real ones
	github.com/getkin/kin-openapi v0.153.0 // loads the OpenAPI documents and resolves their references; in tests, a second opinion on values
	github.com/go-chi/chi/v5 v5.5.0 // the router that the generated server interfaces mount on
	github.com/google/go-cmp v0.7.0 // differences in tests
	github.com/oapi-codegen/nullable v1.2.0 // absent, null and value as three states in generated types
	github.com/oapi-codegen/runtime v1.9.0 // what the generated code calls
	github.com/ollama/ollama v0.17.4 // llama.cpp as a Go package; its newest version that has one
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // judges, in tests, the texts that our grammars let through
	golang.org/x/image v0.48.0 // reads WebP and BMP pictures, and scales large ones down
	gopkg.in/yaml.v3 v3.0.1 // reads scripts
)

require (
	github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
	github.com/go-openapi/jsonpointer v0.22.5 // indirect
	github.com/go-openapi/swag/jsonname v0.25.5 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/kr/pretty v0.3.1 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)
