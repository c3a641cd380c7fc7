package registry_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"

	"github.com/diglot/diglot/engine/models/registry"
	"github.com/diglot/diglot/engine/models/store"
)

// layer is one of a manifest that a test writes by hand.
func layer(kind, digest string, size any) string {
	return fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":%v}`, kind, digest, size)
}

func manifestOf(config string, layers ...string) []byte {
	return fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":%q,"config":%s,"layers":[%s]}`,
		store.MediaTypeManifest, config, strings.Join(layers, ","))
}

func sha(n int) string { return fmt.Sprintf("sha256:%064x", n) }

// TestManifestsThatAreRefused come from a registry that nobody should trust.
// Nothing but a manifest is asked for, and nothing is written.
func TestManifestsThatAreRefused(t *testing.T) {
	t.Parallel()
	config := layer(store.MediaTypeConfig, sha(1), 2)
	model := layer(store.MediaTypeModel, sha(2), 2)
	many := make([]string, 5000)
	for i := range many {
		many[i] = layer(store.MediaTypeModel, sha(i+2), 1)
	}
	for _, tt := range []struct {
		name string
		text []byte
		say  []string
	}{
		{"a digest that is a path", manifestOf(config, layer(store.MediaTypeModel, "sha256:../../../../x", 1)), []string{"not a digest"}},
		{"a digest with a path", manifestOf(config, layer(store.MediaTypeModel, sha(2)+"/../../x", 1)), []string{"not a digest"}},
		{"a digest with a backslash", manifestOf(config, layer(store.MediaTypeModel, `sha256:..\..\x`, 1)), []string{"not a digest"}},
		{"a config that is a path", manifestOf(layer(store.MediaTypeConfig, "../x", 1), model), []string{"not a digest"}},
		{"a digest in capitals", manifestOf(config, layer(store.MediaTypeModel, "sha256:"+strings.Repeat("A", 64), 1)), []string{"not a digest"}},
		{"another algorithm", manifestOf(config, layer(store.MediaTypeModel, "sha512:"+strings.Repeat("0", 128), 1)), []string{"not a digest"}},
		{"an empty digest", manifestOf(config, layer(store.MediaTypeModel, "", 1)), []string{"not a digest"}},
		{"a long digest", manifestOf(config, layer(store.MediaTypeModel, "sha256:"+strings.Repeat("0", 1<<20), 1)), []string{"not a digest"}},
		{"no config", fmt.Appendf(nil, `{"schemaVersion":2,"layers":[%s]}`, model), []string{"config"}},
		{"a negative size", manifestOf(config, layer(store.MediaTypeModel, sha(2), -1)), []string{"-1"}},
		{"a size beyond all bounds", manifestOf(config, layer(store.MediaTypeModel, sha(2), int64(1)<<62)), []string{"TiB"}},
		{"sizes whose sum overflows", manifestOf(config, layer(store.MediaTypeModel, sha(2), int64(1)<<62), layer(store.MediaTypeModel, sha(3), int64(1)<<62)), nil},
		{"sizes whose sum is too much", manifestOf(config, layer(store.MediaTypeModel, sha(2), int64(3)<<40), layer(store.MediaTypeModel, sha(3), int64(3)<<40)), []string{"TiB"}},
		{"a size that is no number", manifestOf(config, layer(store.MediaTypeModel, sha(2), `"1"`)), []string{"invalid"}},
		{"a size of 1e99", manifestOf(config, layer(store.MediaTypeModel, sha(2), "1e99")), []string{"invalid"}},
		{"a large config", manifestOf(layer(store.MediaTypeConfig, sha(1), 5<<20), model), []string{"config"}},
		{"two sizes", manifestOf(config, model, layer(store.MediaTypeModel, sha(2), 3)), []string{"two sizes"}},
		{"thousands of layers", manifestOf(config, many...), []string{"5000 layers"}},
		{"a million layers of nothing", manifestOf(config, strings.Repeat("{},", 1_000_000)+"{}"), []string{"100000 values"}},
		{"a million annotations", manifestOf(config, `{"annotations":{`+strings.Repeat(`"":"",`, 500_000)+`"":""}}`), []string{"100000 values"}},
		{"a manifest without end", bytes.Repeat([]byte(" "), 5<<20), []string{"larger than"}},
		{"nothing", nil, []string{"invalid"}},
		{"a page", []byte("<html>Log in to the hotel's network"), []string{"invalid"}},
		{"schema 1", []byte(`{"schemaVersion":1,"fsLayers":[]}`), []string{"schema version 1"}},
		{"a list", []byte(`[]`), []string{"invalid"}},
		{"deep JSON", bytes.Repeat([]byte("["), 1<<20), []string{"invalid"}},
		{"an index", []byte(`{"schemaVersion":2,"manifests":[{"digest":"` + sha(1) + `"}]}`), []string{"platforms"}},
		{"an empty index", []byte(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json"}`), []string{"platforms"}},
		{"another kind", []byte(`{"schemaVersion":2,"mediaType":"application/vnd.example"}`), []string{"vnd.example"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFront(t, "")
			f.use(onManifest(tt.text, nil))
			s := newStore(t)
			_, err := newClient(t, nil).Pull(t.Context(), s, parse(t, f.host+"/a/b"), nil)
			expectText(t, err, append(tt.say, f.host+"/a/b")...)
			if !errors.Is(err, registry.ErrNotModel) {
				t.Errorf("%v is not ErrNotModel", err)
			}
			if len(err.Error()) > 500 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			expectNothing(t, s)
			if asked := f.requests(request.blob); len(asked) > 0 {
				t.Errorf("blobs were asked for: %v", asked)
			}
			expectNoBlobs(t, s)
		})
	}
}

// expectNoBlobs checks that a store has neither blobs nor unfinished ones.
func expectNoBlobs(t *testing.T, s *store.Store) {
	t.Helper()
	err := filepath.WalkDir(s.Dir(), func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && (strings.Contains(path, "sha256-") || strings.HasSuffix(path, ".data")) {
			t.Errorf("%s was written", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestManifestsWithoutModel are of things that are no models, and of models
// that another server has. For that the config is read, and no layer.
func TestManifestsWithoutModel(t *testing.T) {
	here := `{"model_format":"gguf"}`
	for _, tt := range []struct {
		name, config, layer string
		say                 string // empty: it is a model
	}{
		{"a container image", `{"architecture":"amd64","os":"linux"}`, "application/vnd.docker.image.rootfs.diff.tar.gzip", "container image"},
		{"an OCI image", `{}`, "application/vnd.oci.image.layer.v1.tar+zstd", "container image"},
		{"another packing", `{}`, "application/vnd.docker.ai.gguf.v3", "diglot create"},
		{"tensors", here, "application/vnd.ollama.image.tensor", "single tensors"},
		{"an image model of Ollama", here, "application/vnd.ollama.image.tensor transformer/x.weight", "an image model as Ollama stores them"},
		{"a template alone", here, store.MediaTypeTemplate, "none of its layers"},
		{"a config that is not JSON", `x`, store.MediaTypeTemplate, "none of its layers"},
		{"a model that is elsewhere", `{"remote_host":"https://models.example","remote_model":"large"}`, store.MediaTypeTemplate, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := []byte("layer")
			kind, title, _ := strings.Cut(tt.layer, " ")
			only := strings.Replace(layer(kind, digest.FromBytes(text).String(), len(text)), "{", fmt.Sprintf(`{"name":%q,`, title), 1)
			manifest := manifestOf(layer(store.MediaTypeConfig, digest.FromString(tt.config).String(), len(tt.config)), only)
			f := newFront(t, "")
			f.use(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				switch {
				case strings.HasSuffix(r.URL.Path, digest.FromString(tt.config).String()):
					fmt.Fprint(w, tt.config)
				case strings.HasSuffix(r.URL.Path, digest.FromBytes(text).String()):
					w.Write(text)
				default:
					onManifest(manifest, nil)(w, r, next)
				}
			})
			s := newStore(t)
			_, err := newClient(t, nil).Pull(t.Context(), s, parse(t, f.host+"/a/b"), nil)
			if tt.say == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			expectText(t, err, tt.say, f.host+"/a/b")
			if !errors.Is(err, registry.ErrNotModel) {
				t.Errorf("%v is not ErrNotModel", err)
			}
			expectNothing(t, s)
			if asked := f.requests(isDownload); len(asked) != 1 {
				t.Errorf("these blobs were asked for: %v", asked)
			}
		})
	}
}

func TestManifestThatIsNotAsAnnounced(t *testing.T) {
	f := newFront(t, "")
	f.use(onManifest([]byte(`{}`), http.Header{"Docker-Content-Digest": {sha(7)}}))
	s := newStore(t)
	_, err := newClient(t, nil).Pull(t.Context(), s, parse(t, f.host+"/a/b"), nil)
	expectText(t, err, sha(7), f.host)
	if !errors.Is(err, store.ErrDigest) {
		t.Errorf("%v is not ErrDigest", err)
	}
}

// FuzzManifest has a registry send any manifest. Whatever it is, nothing is
// asked for but blobs by their digests, and nothing is written but them.
func FuzzManifest(f *testing.F) {
	f.Add(string(manifestOf(layer(store.MediaTypeConfig, sha(1), 2), layer(store.MediaTypeModel, sha(2), 2))))
	f.Add(string(manifestOf(layer(store.MediaTypeConfig, "sha256:../x", 2), layer(store.MediaTypeModel, "/etc/passwd", 2))))
	f.Add(`{"schemaVersion":2,"manifests":[]}`)
	f.Add(`{"schemaVersion":2,"config":null,"layers":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		transport := replies(func(r *http.Request) (int, string) {
			kind, reference, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/a/b/"), "/")
			switch {
			case kind == "manifests":
				return http.StatusOK, text
			case kind == "blobs" && digest.Digest(reference).Validate() == nil:
				return http.StatusNotFound, ""
			}
			t.Errorf("%s was asked for", r.URL)
			return http.StatusNotFound, ""
		})
		s := newStore(t)
		client := registry.New(registry.Config{Transport: transport, Tries: 1})
		if _, err := client.Pull(t.Context(), s, parse(t, "registry.example/a/b"), nil); err == nil {
			t.Error("blobs that are not there were pulled")
		}
		expectNothing(t, s)
	})
}

// replies is a network with one server.
type replies func(*http.Request) (int, string)

func (f replies) RoundTrip(r *http.Request) (*http.Response, error) {
	code, text := f(r)
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)), Request: r}, nil
}
