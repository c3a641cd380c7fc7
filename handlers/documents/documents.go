// Package documents serves the OpenAPI documents of both styles as the running server is,
// for tools: generators of clients, fuzzers, explorers.
//
// There are eight files: openai and anthropic, each as YAML and as JSON, in OpenAPI 3.2 and
// 3.1. Each is made when it is first requested and then kept. They hold no secrets, so that
// a key is not needed, as for /health.
package documents

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/export"
)

// Folder is the path below which the documents are.
const Folder = "/openapi/"

// Files are the documents of one server, by path.
type Files map[string]func() (File, error)

// File is a document as it is sent.
type File struct {
	mediaType string
	tag       string
	text      []byte
}

// New returns the files of documents that are compiled for a profile. keys says that the
// server checks API keys.
func New(documents openapi.Documents, keys bool) Files {
	files := Files{}
	for name, document := range map[string]*openapi.Document{"openai": documents.OpenAI, "anthropic": documents.Anthropic} {
		for suffix, version := range map[string]export.Version{"": export.Version32, "-3.1": export.Version31} {
			made := sync.OnceValues(func() (*export.Export, error) {
				return export.New(document, export.Options{Version: version, Keys: keys})
			})
			files[Folder+name+suffix+".yaml"] = sync.OnceValues(func() (File, error) {
				return write(made, "application/yaml", (*export.Export).YAML)
			})
			files[Folder+name+suffix+".json"] = sync.OnceValues(func() (File, error) {
				return write(made, "application/json", (*export.Export).JSON)
			})
		}
	}
	return files
}

func write(made func() (*export.Export, error), mediaType string, encode func(*export.Export) ([]byte, error)) (File, error) {
	exported, err := made()
	if err != nil {
		return File{}, err
	}
	text, err := encode(exported)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", mediaType, err)
	}
	sum := sha256.Sum256(text)
	return File{mediaType, `"` + hex.EncodeToString(sum[:8]) + `"`, text}, nil
}

// Has reports whether there is a file at a path.
func (f Files) Has(path string) bool { return f[path] != nil }

// Open returns the file at a path that [Files.Has].
func (f Files) Open(path string) (File, error) { return f[path]() }

// ServeHTTP answers GET and HEAD, conditional ones too: a client may keep a document but
// must ask whether it still is the server's.
func (f File) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", f.mediaType)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", f.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.text))
}
