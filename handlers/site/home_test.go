package site

import (
	"context"
	"html"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
)

func TestHome(t *testing.T) {
	models := func(context.Context) ([]engine.Model, error) {
		return []engine.Model{{Name: "a<b>:latest", Context: 131072}, {Name: "idle"}, {Name: "used"}}, nil
	}
	status := Status{
		Version: "v1.2.3",
		Loaded: []Loaded{
			{Name: "a<b>", Size: 1_500_000_000, Until: noon.Add(4 * time.Minute)},
			{Name: "gone", Context: 4096, Stopping: true, Requests: 1, Size: 500_000_000},
		},
		Available: 12_000_000_000,
		Limit:     16_000_000_000,
	}
	secrets := []string{"a&lt;b&gt;", "131,072", "loaded, 1.5 GB, unloads in 4 minutes", "gone", "4,096", "stopping, 500 MB, 1 request", "idle", "not loaded",
		"models use 2 GB of at most 16 GB, 12 GB available"}
	for _, tt := range []struct {
		name       string
		config     Config
		visitor    Visitor
		has, hasNo []string
	}{
		{"whoever needs no key", Config{}, Visitor{Known: true}, append(secrets, "v1.2.3", "default profile", "http://localhost:8484/v1", "any non-empty text"), []string{"a<b>", "needs an API key"}},
		{"whoever has a key", Config{}, Visitor{KeyNeeded: true, Known: true}, append(secrets, "$DIGLOT_API_KEY"), []string{"needs an API key"}},
		{"whoever has none", Config{}, Visitor{KeyNeeded: true}, []string{"v1.2.3", "needs an API key", "Try a prompt"}, secrets},
		{"links", Config{Docs: docs}, Visitor{Known: true}, []string{`href="docs/"`, `href="openapi/openai.yaml"`, `href="openapi/anthropic.yaml"`}, nil},
		{"no reference", Config{}, Visitor{Known: true}, nil, []string{`href="docs/"`}},
		{"no models", Config{Models: func(context.Context) ([]engine.Model, error) { return nil, nil }, Status: none}, Visitor{Known: true}, []string{"There are no models yet"}, []string{"Memory:"}},
		{"models that cannot be listed", Config{Models: func(context.Context) ([]engine.Model, error) {
			return nil, engine.Errorf(engine.CodeOverloaded, "The store is busy.")
		}, Status: none}, Visitor{Known: true}, []string{"The store is busy."}, []string{"There are no models"}},
	} {
		if tt.config.Models == nil {
			tt.config.Models = models
		}
		if tt.config.Status == nil {
			tt.config.Status = func(context.Context) Status { return status }
		}
		tt.config.Profile = "default"
		body := homeFor(t, newSite(t, tt.config), tt.visitor)
		for _, want := range tt.has {
			if !strings.Contains(body, want) {
				t.Errorf("%s: the page lacks %q\n%s", tt.name, want, body)
			}
		}
		for _, not := range tt.hasNo {
			if strings.Contains(body, not) {
				t.Errorf("%s: the page has %q", tt.name, not)
			}
		}
	}
}

// TestCommandIsQuoted holds that the name of a model is no command of the shell.
func TestCommandIsQuoted(t *testing.T) {
	body := homeFor(t, newSite(t, Config{Status: none, Models: func(context.Context) ([]engine.Model, error) {
		return []engine.Model{{Name: `a'; id; '"`}}, nil
	}}), Visitor{Known: true})
	if want := `-d '{"model": "a'\''; id; '\''\"", `; !strings.Contains(html.UnescapeString(body), want) {
		t.Errorf("the page lacks %s\n%s", want, body)
	}
}

func none(context.Context) Status { return Status{} }

func homeFor(t *testing.T, s *Site, v Visitor) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost:8484/", nil)
	w := httptest.NewRecorder()
	if err := s.Serve(w, r, v); err != nil || w.Code != 200 || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("status %d, %v, %v", w.Code, err, w.Header())
	}
	checkSecure(t, "the page", w.Header())
	return w.Body.String()
}

// TestManyModels holds that a long list is folded, and that what is loaded stays in sight.
func TestManyModels(t *testing.T) {
	var many []engine.Model
	for i := range 40 {
		many = append(many, engine.Model{Name: "m" + strconv.Itoa(i)})
	}
	body := homeFor(t, newSite(t, Config{
		Models: func(context.Context) ([]engine.Model, error) { return many, nil },
		Status: func(context.Context) Status { return Status{Loaded: []Loaded{{Name: "m39", Host: "host.example"}}} },
	}), Visitor{Known: true})
	seen, folded, ok := strings.Cut(body, "<details>")
	if !ok || !strings.Contains(folded, "28 more") || strings.Count(body, "data-model=") != 40 {
		t.Errorf("the page does not list 40 models, 28 of them folded:\n%s", body)
	}
	if !strings.Contains(seen, "m39") || !strings.Contains(seen, "at host.example") {
		t.Errorf("the loaded model is folded:\n%s", seen)
	}
}

func TestState(t *testing.T) {
	for _, tt := range []struct {
		loaded Loaded
		want   string
	}{
		{Loaded{}, "loaded"},
		{Loaded{Loading: true}, "loading"},
		{Loaded{Size: 98_000_000, Requests: 3}, "loaded, 98 MB, 3 requests"},
		{Loaded{Until: noon.Add(-time.Second)}, "loaded, unloads in less than a second"},
		{Loaded{Host: "host.example"}, "at host.example"},
	} {
		if got := tt.loaded.state(noon); got != tt.want {
			t.Errorf("state(%+v) = %q, want %q", tt.loaded, got, tt.want)
		}
	}
}
