package registry_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"

	"github.com/diglot/diglot/engine/models/registry"
	"github.com/diglot/diglot/engine/models/store"
)

var quiet = log.New(io.Discard, "", 0)

// chunk is small, so that a small blob has many.
const chunk = 64 << 10

// large is the size of the weights of a test's model: 16 chunks and a bit.
const large = 16*chunk + 77

func newClient(t *testing.T, change func(*registry.Config)) *registry.Client {
	t.Helper()
	transport := registry.NewTransport(nil)
	t.Cleanup(transport.CloseIdleConnections)
	c := registry.Config{
		Transport: transport,
		Chunk:     chunk,
		Stall:     20 * time.Second, // no test but those of silence may wait for it
		Answer:    20 * time.Second,
		Backoff:   time.Millisecond,
	}
	if change != nil {
		change(&c)
	}
	return registry.New(c)
}

func newStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parse(t *testing.T, s string) store.Name {
	t.Helper()
	n, err := store.ParseName(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// noise is always the same for a seed.
func noise(seed byte, size int) []byte {
	b := make([]byte, size)
	rand.NewChaCha8([32]byte{seed}).Read(b)
	return b
}

const odd = "application/vnd.example.unheard-of" // a layer of a kind that nobody knows

// create puts a model into a store: weights of a size, a template, a layer of
// an unknown kind, an empty one, and a member in the manifest that only its
// maker knows.
func create(t *testing.T, s *store.Store, n store.Name, size int) *store.Model {
	t.Helper()
	change, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer change.Close()
	blob := func(kind string, content []byte) store.Layer {
		l, err := change.Write(t.Context(), kind, bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	manifest := store.Manifest{
		Config: blob(store.MediaTypeConfig, []byte(`{"model_format":"gguf","model_family":"llama"}`)),
		Layers: []store.Layer{
			blob(store.MediaTypeModel, noise(1, size)),
			blob(store.MediaTypeTemplate, []byte("{{ .Prompt }}")),
			blob(odd, []byte("odd")),
			blob(store.MediaTypeLicense, nil),
		},
	}
	text, err := manifest.Encode()
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`{`), []byte(`{"maker":"someone",`), 1)
	m, err := change.Put(t.Context(), n, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// publish makes a model and pushes it, through the front, to what is behind.
func publish(t *testing.T, f *front, name string) *store.Model {
	t.Helper()
	s := newStore(t)
	m := create(t, s, parse(t, f.host+"/"+name), large)
	if err := newClient(t, nil).Push(t.Context(), s, m.Name, nil); err != nil {
		t.Fatal(err)
	}
	f.use(nil)
	return m
}

// expectSame checks that a store holds the same model, every byte of it.
func expectSame(t *testing.T, s *store.Store, want *store.Model) {
	t.Helper()
	got, err := s.Model(want.Name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Raw, want.Raw) {
		t.Errorf("the manifest is\n%s\nwant\n%s", got.Raw, want.Raw)
	}
	for _, l := range append(want.Manifest.Layers, want.Manifest.Config) {
		content, err := os.ReadFile(s.BlobPath(l.Digest))
		if err != nil {
			t.Error(err)
		} else if digest.FromBytes(content) != l.Digest {
			t.Errorf("blob %s (%s) has other bytes", l.Digest, l.MediaType)
		}
	}
}

// expectNoRest checks that nothing of the downloads is left.
func expectNoRest(t *testing.T, s *store.Store) {
	t.Helper()
	rest, err := os.ReadDir(filepath.Join(s.Dir(), ".diglot", "partial"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range rest {
		t.Errorf("%s is left of the download", e.Name())
	}
}

// expectNothing checks that a failed pull left no model.
func expectNothing(t *testing.T, s *store.Store) {
	t.Helper()
	models, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range models {
		t.Errorf("there is a model %s", m.Name)
	}
}

// expectText checks that an error is there and that its text has all parts.
func expectText(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("the error %q does not say %q", err, p)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\r\x1b") {
		t.Errorf("the error has more than one line, or steers a terminal: %q", err)
	}
}

// weights is the layer with the model.
func weights(m *store.Model) store.Layer { return m.Manifest.Layers[0] }

// tape notes progress, and checks that it makes sense.
type tape struct {
	t    *testing.T
	mu   sync.Mutex
	last map[digest.Digest]registry.Progress
}

func newTape(t *testing.T) *tape {
	return &tape{t: t, last: map[digest.Digest]registry.Progress{}}
}

func (p *tape) note(now registry.Progress) {
	if !p.mu.TryLock() {
		p.t.Error("progress is reported twice at a time")
		return
	}
	defer p.mu.Unlock()
	before := p.last[now.Layer]
	if now.Done < before.Done && now.Status != registry.StatusUpload || now.Done > now.Total || now.Resumed > now.Done {
		p.t.Errorf("progress went from %+v to %+v", before, now)
	}
	p.last[now.Layer] = now
}

// expectEnd checks that all layers ended, each in one of the statuses.
func (p *tape) expectEnd(m *store.Model, statuses ...registry.Status) {
	p.t.Helper()
	for _, l := range append(m.Manifest.Layers, m.Manifest.Config) {
		last := p.last[l.Digest]
		ok := false
		for _, s := range statuses {
			ok = ok || last.Status == s
		}
		if !ok || last.Done != l.Size || last.Total != l.Size || last.MediaType != l.MediaType {
			p.t.Errorf("the last progress of %s was %+v", l.MediaType, last)
		}
	}
}

// dockerConfig writes a docker config with one login, and gives its path.
func dockerConfig(t *testing.T, host, user, password string) string {
	t.Helper()
	path := t.TempDir() + "/config.json"
	text, err := json.Marshal(map[string]any{"auths": map[string]any{host: map[string]any{"username": user, "password": password}}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(text))
	return path
}

func isDownload(r request) bool { return r.method == http.MethodGet && r.blob() }
