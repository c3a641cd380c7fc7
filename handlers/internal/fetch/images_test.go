package fetch

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/internal/budget"
)

// linking is an engine of another server, which sends URLs.
type linking struct {
	engine.Engine
	urls []string
}

func (l linking) GenerateImages(context.Context, *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		for i, u := range l.urls {
			if !yield(engine.Drawn{Choice: i, Image: engine.Image{URL: u}, Quality: "low"}, nil) {
				return
			}
		}
	}
}

// TestGeneratedImages: an image that comes as a URL is fetched by the rules for images of
// clients, and errors are the server's, without its address.
func TestGeneratedImages(t *testing.T) {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/a.png":
			_, _ = w.Write(file.Bytes())
		case "/large":
			w.Header().Set("Content-Length", "99999999")
		case "/text":
			_, _ = w.Write([]byte("hello"))
		case "/moved":
			http.Redirect(w, r, "http://127.0.0.2/a.png", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	host, _, _ := net.SplitHostPort(server.Listener.Addr().String())
	good := engine.Drawn{Image: engine.Image{Data: file.Bytes(), MediaType: "image/png"}, Width: 3, Height: 2, Quality: "low"}
	second := good
	second.Choice = 1
	for _, tt := range []struct {
		name  string
		hosts []string
		urls  []string
		want  []engine.Drawn
		code  engine.Code
	}{
		{"one", []string{host}, []string{server.URL + "/a.png?key=x"}, []engine.Drawn{good}, ""},
		{"two", []string{host}, []string{server.URL + "/a.png", server.URL + "/a.png"}, []engine.Drawn{good, second}, ""},
		{"a private address", nil, []string{server.URL + "/a.png"}, nil, engine.CodeEngineCrashed},
		{"a file", []string{host}, []string{"file:///etc/passwd"}, nil, engine.CodeEngineCrashed},
		{"no URL", []string{host}, []string{"p.png"}, nil, engine.CodeEngineCrashed},
		{"nothing there", []string{host}, []string{server.URL + "/b.png"}, nil, engine.CodeEngineCrashed},
		{"too large", []string{host}, []string{server.URL + "/large"}, nil, engine.CodeEngineCrashed},
		{"no image", []string{host}, []string{server.URL + "/text"}, nil, engine.CodeEngineCrashed},
		{"a way to a private address", []string{host}, []string{server.URL + "/moved"}, nil, engine.CodeEngineCrashed},
		{"the second is bad", []string{host}, []string{server.URL + "/a.png", server.URL + "/text"}, nil, engine.CodeEngineCrashed},
	} {
		got, err := engine.CollectImages(New(linking{urls: tt.urls}, tt.hosts).GenerateImages(t.Context(), &engine.ImageRequest{Choices: len(tt.urls)}))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
		var code engine.Code
		if err != nil {
			e := engine.AsError(err)
			if code = e.Code; strings.Contains(e.Message, "127.0.0") || e.Err == nil {
				t.Errorf("%s: message %q because of %v", tt.name, e.Message, e.Err)
			}
		}
		if code != tt.code {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.code)
		}
	}

	full := budget.New(1 << 10)
	ctx := exchange.With(t.Context(), &exchange.Exchange{Memory: full.Share()})
	full.Share().Reserve(full.Free() - 10)
	_, err := engine.CollectImages(New(linking{urls: []string{server.URL + "/a.png"}}, []string{host}).GenerateImages(ctx, &engine.ImageRequest{}))
	if e := engine.AsError(err); e == nil || e.Code != engine.CodeOverloaded || e.RetryAfter == 0 {
		t.Errorf("without memory: error %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = engine.CollectImages(New(linking{urls: []string{server.URL + "/a.png"}}, []string{host}).GenerateImages(ended, &engine.ImageRequest{}))
	if e := engine.AsError(err); e == nil || e.Code != engine.CodeCanceled {
		t.Errorf("nobody waits: error %v", err)
	}
}
