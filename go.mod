module github.com/diglot/diglot

go 1.27.0

toolchain go1.27.3

require (
	github.com/ardanlabs/jinja v1.12.0 // renders the chat templates that models carry; the one Go library that renders the real ones
	github.com/clipperhouse/uax29/v2 v2.7.0 // what a person takes for one character, in the line editor
	github.com/coreos/go-systemd/v22 v22.7.0 // takes over the sockets that systemd opened
	github.com/docker/go-units v0.5.0 // sizes and times for people
	github.com/dunglas/httpsfv v1.1.2 // reads the structured fields of faults
	github.com/ebitengine/purego v0.11.3 // calls the library of the image engine without cgo
	github.com/getkin/kin-openapi v0.153.0 // loads the OpenAPI documents and resolves their references; in tests, a second opinion on values
	github.com/go-chi/chi/v5 v5.5.0 // the router that the generated server interfaces mount on
	github.com/gofrs/flock v0.13.2 // locks of the model store between processes
	github.com/google/go-cmp v0.7.0 // differences in tests
	github.com/mattn/go-runewidth v0.0.30 // how many columns of a terminal a character takes
	github.com/mattn/go-sixel v0.0.14 // images in terminals that show sixels, and the question whether one does
	github.com/oapi-codegen/nullable v1.2.0 // absent, null and value as three states in generated types
	github.com/oapi-codegen/runtime v1.9.0 // what the generated code calls
	github.com/ollama/ollama v0.17.4 // llama.cpp as a Go package, its newest version that has one; and the reader of its Go templates
	github.com/opencontainers/go-digest v1.0.0 // digests of blobs, and their check
	github.com/opencontainers/image-spec v1.1.1 // descriptors and manifests as registries know them
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // judges what no grammar enforces in the values that the mock engine writes and, in tests, the texts that our grammars let through
	github.com/spf13/cobra v1.10.2 // the command line: verbs, help, shell completion
	github.com/spf13/pflag v1.0.9 // the flags of cobra, whose values are types of ours
	github.com/vbauerster/mpb/v8 v8.16.2 // progress bars
	github.com/yuin/goldmark v1.8.7 // turns Markdown pages of the reference into HTML, when it is generated
	golang.org/x/image v0.48.0 // reads WebP and BMP pictures, and scales large ones down
	golang.org/x/sync v0.25.0 // groups of goroutines that end together
	golang.org/x/sys v0.50.0 // the system calls by which a process of a model gives up its rights; what the processor can do
	golang.org/x/term v0.48.0 // questions in a terminal, and its raw mode
	golang.org/x/text v0.44.0 // takes the accents off letters, for tokenizers of the WordPiece kind; in tests, a second opinion on text that is cut in the middle of a character
	gonum.org/v1/plot v0.17.0 // draws the plots of the benchmark; no server has it inside
	gopkg.in/yaml.v3 v3.0.1 // reads scripts, and the documents as they are written
	oras.land/oras-go/v2 v2.7.0 // the client of OCI registries, with the credentials of docker
)

require (
	codeberg.org/go-fonts/liberation v0.5.0 // indirect
	codeberg.org/go-latex/latex v0.2.0 // indirect
	codeberg.org/go-pdf/fpdf v0.11.1 // indirect
	git.sr.ht/~sbinet/gg v0.7.0 // indirect
	github.com/VividCortex/ewma v1.2.0 // indirect
	github.com/acarl005/stripansi v0.0.0-20180116102854-5a71ef0e047d // indirect
	github.com/agnivade/levenshtein v1.1.1 // indirect
	github.com/ajstarks/svgo v0.0.0-20211024235047-1546f124cd8b // indirect
	github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
	github.com/bahlo/generic-list-go v0.2.0 // indirect
	github.com/buger/jsonparser v1.1.1 // indirect
	github.com/go-openapi/jsonpointer v0.22.5 // indirect
	github.com/go-openapi/swag/jsonname v0.25.5 // indirect
	github.com/golang/freetype v0.0.0-20170609003504-e2365dfdc4a0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/kr/pretty v0.3.1 // indirect
	github.com/mailru/easyjson v0.7.7 // indirect
	github.com/soniakeys/quant v1.0.0 // indirect
	github.com/vbauerster/cupwriter v0.0.5 // indirect
	github.com/wk8/go-ordered-map/v2 v2.1.8 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	golang.org/x/crypto v0.43.0 // indirect
)
