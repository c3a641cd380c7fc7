package registry_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/models/registry"
	"github.com/diglot/diglot/engine/models/store"
)

func isUpload(r request) bool {
	return r.method == http.MethodPut && strings.Contains(r.path, "/uploads/")
}

// TestPushKeepsPathsToItself has a manifest that says where on this machine
// the model's file was, as some that Ollama wrote do.
func TestPushKeepsPathsToItself(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	from, to := newStore(t), newStore(t)
	m := create(t, from, parse(t, f.host+"/a/model"), large)
	change, err := from.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer change.Close()
	raw := strings.Replace(string(m.Raw), `"layers":[{`, `"layers":[{"from":"/home/someone/model.gguf",`, 1)
	if m, err = change.Put(t.Context(), m.Name, []byte(raw)); err != nil || m.Manifest.Layers[0].From == "" {
		t.Fatalf("%v, %v", m, err)
	}
	client := newClient(t, nil)
	if err := client.Push(t.Context(), from, m.Name, nil); err != nil {
		t.Fatal(err)
	}
	got, err := client.Pull(t.Context(), to, m.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(got.Raw); strings.Contains(text, "someone/model.gguf") || !strings.Contains(text, `"maker":"someone"`) || len(got.Manifest.Layers) != len(m.Manifest.Layers) {
		t.Errorf("pulled back, the manifest is\n%s\nand here it is\n%s", text, m.Raw)
	}
}

// TestPushOverFaults has uploads meet what goes wrong.
func TestPushOverFaults(t *testing.T) {
	t.Parallel()
	behind := startRegistry(t)
	uploading := func(then fault) fault {
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method != http.MethodPut || r.ContentLength < large {
				next.ServeHTTP(w, r)
				return
			}
			then(w, r, next)
		}
	}
	for i, tt := range []struct {
		name  string
		fault fault
		say   string // empty: it succeeds
	}{
		{"busy", times(3, status(http.StatusServiceUnavailable, "")), ""},
		{"busy on the way", uploading(times(2, status(http.StatusTooManyRequests, ""))), ""},
		{"cuts", uploading(times(2, func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
			r.Body.Read(make([]byte, 100))
			panic(http.ErrAbortHandler)
		})), ""},
		{"trouble", uploading(status(http.StatusInternalServerError, "")), "failed with 500"},
		{"too large", uploading(status(http.StatusRequestEntityTooLarge, "")), "files of this size"},
		{"not allowed", uploading(status(http.StatusForbidden, `{"errors":[{"code":"DENIED","message":"read only"}]}`)), "read only"},
		{"a manifest that is refused", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if strings.Contains(r.URL.Path, "/manifests/") {
				status(http.StatusBadRequest, `{"errors":[{"code":"MANIFEST_INVALID","message":"not today"}]}`)(w, r, next)
				return
			}
			next.ServeHTTP(w, r)
		}, "not today"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFront(t, behind)
			from, to := newStore(t), newStore(t)
			m := create(t, from, parse(t, f.host+"/a/model"+string(rune('a'+i))), large+i)
			f.use(tt.fault)
			client := newClient(t, func(c *registry.Config) { c.Tries = 4 })
			bar := newTape(t)
			err := client.Push(t.Context(), from, m.Name, bar.note)
			f.use(nil)
			if tt.say != "" {
				expectText(t, err, tt.say, f.host)
				_, err := client.Pull(t.Context(), to, m.Name, nil)
				if !errors.Is(err, store.ErrNotFound) {
					t.Errorf("half a model was pushed: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			bar.expectEnd(m, registry.StatusDone, registry.StatusPresent)
			if _, err := client.Pull(t.Context(), to, m.Name, nil); err != nil {
				t.Fatal(err)
			}
			expectSame(t, to, m)
		})
	}
}

// TestPushToAServerThatHangs has one that takes no byte of a blob. The
// buffers of the system take some, so the blob is larger than they are.
func TestPushToAServerThatHangs(t *testing.T) {
	t.Parallel()
	f := newFront(t, "")
	over := make(chan struct{}) // a server does not see that a client leaves while its body is unread
	f.use(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		switch r.Method {
		case http.MethodHead:
			w.WriteHeader(http.StatusNotFound)
		case http.MethodPost:
			w.Header().Set("Location", r.URL.Path+"1")
			w.WriteHeader(http.StatusAccepted)
		default:
			<-over
		}
	})
	s := newStore(t)
	m := create(t, s, parse(t, f.host+"/a/model"), 32<<20)
	defer close(over)
	err := newClient(t, func(c *registry.Config) { shortStall(c); c.Tries = 2 }).Push(t.Context(), s, m.Name, nil)
	expectText(t, err, f.host, "stalled")
}

// TestPushMounts sends an alias to a registry that has the weights already.
func TestPushMounts(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	s := newStore(t)
	m := create(t, s, parse(t, f.host+"/a/model"), large)
	client := newClient(t, nil)
	if err := client.Push(t.Context(), s, m.Name, nil); err != nil {
		t.Fatal(err)
	}
	alias := parse(t, f.host+"/b/alias:new")
	if err := s.Copy(t.Context(), m.Name, alias); err != nil {
		t.Fatal(err)
	}
	f.use(nil)
	if err := client.Push(t.Context(), s, alias, nil); err != nil {
		t.Fatal(err)
	}
	if sent := f.requests(isUpload); len(sent) != 1 { // the config, which may differ
		t.Errorf("blobs were sent again: %v", sent)
	}
	to := newStore(t)
	if _, err := client.Pull(t.Context(), to, alias, nil); err != nil {
		t.Fatal(err)
	}

	// A registry that mounts nothing gets all of it.
	other := parse(t, f.host+"/c/alias")
	if err := s.Copy(t.Context(), m.Name, other); err != nil {
		t.Fatal(err)
	}
	f.use(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Query().Has("mount") {
			r.URL.RawQuery = ""
		}
		next.ServeHTTP(w, r)
	})
	if err := client.Push(t.Context(), s, other, nil); err != nil {
		t.Fatal(err)
	}
	if sent := f.requests(isUpload); len(sent) != 5 {
		t.Errorf("not all blobs were sent: %v", sent)
	}
}

func TestPushIsCancelled(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	s := newStore(t)
	m := create(t, s, parse(t, f.host+"/a/model"), large)
	ctx, cancel := context.WithCancel(t.Context())
	f.use(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if isUpload(request{method: r.Method, path: r.URL.Path}) {
			cancel()
		}
		next.ServeHTTP(w, r)
	})
	if err := newClient(t, nil).Push(ctx, s, m.Name, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// TestPushToThoseThatTakeNothing names registries that only their own
// programs can write.
func TestPushToThoseThatTakeNothing(t *testing.T) {
	s := newStore(t)
	client := newClient(t, func(c *registry.Config) {
		c.Transport = replies(func(r *http.Request) (int, string) {
			t.Errorf("%s was asked for", r.URL)
			return http.StatusNotFound, ""
		})
	})
	for _, name := range []string{"mine", "me/mine", "hf.co/a/b", "huggingface.co/a/b"} {
		m := create(t, s, parse(t, name), 10)
		err := client.Push(t.Context(), s, m.Name, nil)
		expectText(t, err, m.Name.Host, "Copy the model")
		if !errors.Is(err, registry.ErrUnauthorized) {
			t.Errorf("%v is not ErrUnauthorized", err)
		}
	}
}
