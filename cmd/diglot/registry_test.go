package main

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/opencontainers/go-digest"
)

// memoryRegistry is as much of an OCI registry as one model needs.
type memoryRegistry struct {
	mu        sync.Mutex
	blobs     map[string][]byte // by digest
	manifests map[string][]byte // by path
}

func newMemoryRegistry() http.Handler {
	r := &memoryRegistry{blobs: map[string][]byte{}, manifests: map[string][]byte{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/{$}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /v2/{team}/{model}/manifests/{tag}", r.getManifest)
	mux.HandleFunc("PUT /v2/{team}/{model}/manifests/{tag}", r.putManifest)
	mux.HandleFunc("GET /v2/{team}/{model}/blobs/{digest}", r.getBlob)
	mux.HandleFunc("POST /v2/{team}/{model}/blobs/uploads/", r.beginUpload)
	mux.HandleFunc("PATCH /v2/{team}/{model}/blobs/uploads/{id}", r.upload)
	mux.HandleFunc("PUT /v2/{team}/{model}/blobs/uploads/{id}", r.endUpload)
	return mux
}

func (r *memoryRegistry) getManifest(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	manifest, ok := r.manifests[req.URL.Path]
	if !ok {
		http.Error(w, `{"errors": [{"code": "MANIFEST_UNKNOWN"}]}`, http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.docker.distribution.manifest.v2+json")
	w.Header().Set("Docker-Content-Digest", digest.FromBytes(manifest).String())
	http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(manifest))
}

func (r *memoryRegistry) putManifest(w http.ResponseWriter, req *http.Request) {
	r.keep(w, req, r.manifests, req.URL.Path)
}

func (r *memoryRegistry) getBlob(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	blob, ok := r.blobs[req.PathValue("digest")]
	if !ok {
		http.Error(w, `{"errors": [{"code": "BLOB_UNKNOWN"}]}`, http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(blob))
}

func (r *memoryRegistry) beginUpload(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Location", req.URL.Path+digest.FromString(time.Now().String()).Encoded())
	w.WriteHeader(http.StatusAccepted)
}

func (r *memoryRegistry) upload(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	piece, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.blobs[req.URL.Path] = append(r.blobs[req.URL.Path], piece...)
	w.Header().Set("Location", req.URL.Path)
	w.WriteHeader(http.StatusAccepted)
}

func (r *memoryRegistry) endUpload(w http.ResponseWriter, req *http.Request) {
	name := req.URL.Query().Get("digest")
	r.mu.Lock()
	sent := r.blobs[req.URL.Path]
	r.mu.Unlock()
	req.Body = io.NopCloser(io.MultiReader(bytes.NewReader(sent), req.Body))
	r.keep(w, req, r.blobs, name)
}

// keep stores a body under key, which is its digest or the path of a
// manifest.
func (r *memoryRegistry) keep(w http.ResponseWriter, req *http.Request, in map[string][]byte, key string) {
	body, err := io.ReadAll(req.Body)
	if err != nil || strings.HasPrefix(key, "sha256:") && digest.FromBytes(body).String() != key {
		http.Error(w, `{"errors": [{"code": "DIGEST_INVALID"}]}`, http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	in[key] = body
	w.Header().Set("Docker-Content-Digest", digest.FromBytes(body).String())
	w.WriteHeader(http.StatusCreated)
}
