package library

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/enginetest"
	"github.com/diglot/diglot/engine/models/modelfile"
	"github.com/diglot/diglot/engine/models/store"
	"github.com/diglot/diglot/engine/script"
)

// scripted is an instance that plays a script.
type scripted struct{ *chat.Engine }

func (scripted) Close() error { return nil }

func TestSuite(t *testing.T) {
	open := func(t *testing.T) engine.Engine {
		h := newHouse(t, Config{Budget: 1 << 20})
		h.create(t, "m", "weights", 8, "")
		h.Engine.config.Start = func(_ context.Context, l Launch) (Instance, error) {
			models, err := script.Load(strings.NewReader("models: {" + l.Name + `: {embedding: 8, replies: [{pieces: [Hel, lo, " ", you, "!"]}]}}`))
			if err != nil {
				return nil, err
			}
			e, err := chat.New(models[0], slog.New(slog.DiscardHandler), time.Now)
			return scripted{e}, err
		}
		t.Cleanup(func() { _ = h.Close() })
		return h.Engine
	}
	enginetest.Run(t, open)
	enginetest.RunEmbeddings(t, open)
}

func TestModelsFollowTheStore(t *testing.T) {
	h := newHouse(t, Config{Budget: 1 << 20})
	other, err := store.Open(store.Options{Dir: h.store.Dir()})
	if err != nil {
		t.Fatal(err)
	}
	list := func() string {
		models, err := h.Models(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range models {
			if time.Since(m.Changed) > time.Hour {
				t.Errorf("model %q changed at %v", m.Name, m.Changed)
			}
			names = append(names, m.Name+"("+m.Owner+")")
		}
		return strings.Join(names, " ")
	}
	if got := list(); got != "" {
		t.Errorf("an empty store has %q", got)
	}
	h.create(t, "b:7b", "weights", 8, "")
	h.create(t, "hf.co/org/repo:Q4_K_M", "weights", 9, "")
	if err := other.Copy(t.Context(), parse(t, "b:7b"), parse(t, "gpt-4o")); err != nil {
		t.Fatal(err)
	}
	if got, want := list(), "b:7b(library) gpt-4o(library) hf.co/org/repo:Q4_K_M(org)"; got != want {
		t.Errorf("models %q, want %q", got, want)
	}
	if err := other.Remove(t.Context(), parse(t, "b:7b")); err != nil {
		t.Fatal(err)
	}
	if got, want := list(), "gpt-4o(library) hf.co/org/repo:Q4_K_M(org)"; got != want {
		t.Errorf("models %q, want %q", got, want)
	}
	if h.started() != "" {
		t.Errorf("a list starts %q", h.started())
	}
}

func TestNames(t *testing.T) {
	h := newHouse(t, Config{Budget: 1 << 20})
	defer h.Close()
	h.create(t, "m", "weights", 8, "")
	for _, tt := range []struct {
		name string
		code engine.Code
		text string // in the message
	}{
		{"m", "", ""},
		{"m:latest", "", ""},
		{"library/m", "", ""},
		{"registry.ollama.ai/library/m:latest", "", ""},
		{"m:7b", engine.CodeModelNotFound, `The model "m:7b" does not exist. "diglot list" shows the models that are here, and "diglot pull m:7b" gets this one where its registry has it.`},
		{"nobody", engine.CodeModelNotFound, "diglot pull nobody"},
		{"", engine.CodeModelNotFound, "name"},
		{"../../x", engine.CodeModelNotFound, `"../../x"`},
		{"a/../../b", engine.CodeModelNotFound, "name"},
		{"/etc/passwd", engine.CodeModelNotFound, "name"},
		{`a\b`, engine.CodeModelNotFound, "name"},
		{"a\x00b", engine.CodeModelNotFound, "name"},
		{"модель", engine.CodeModelNotFound, "name"},
		{strings.Repeat("a", 1<<20), engine.CodeModelNotFound, "name"},
	} {
		for way, err := range h.everyWay(t.Context(), tt.name) {
			var got *engine.Error
			if err != nil && !errors.As(err, &got) {
				t.Errorf("%.40q, %s: the error is a %T", tt.name, way, err)
				continue
			}
			switch {
			case got == nil && tt.code != "":
				t.Errorf("%.40q, %s: no error", tt.name, way)
			case got != nil && (got.Code != tt.code || !strings.Contains(got.Message, tt.text) || len(got.Message) > 1100):
				t.Errorf("%.40q, %s: %s %.200q; want %s with %q", tt.name, way, got.Code, got.Message, tt.code, tt.text)
			case got != nil && got.Place.Field != engine.FieldModel:
				t.Errorf("%.40q, %s: the place is %v", tt.name, way, got.Place)
			}
		}
	}
	if h.started() != "m" {
		t.Errorf("started %q; all names are those of one model", h.started())
	}
}

func TestAliasesShareAnInstance(t *testing.T) {
	h := newHouse(t, Config{Budget: 1 << 20})
	defer h.Close()
	h.create(t, "a", "weights", 8, "")
	if err := h.store.Copy(t.Context(), parse(t, "a"), parse(t, "gpt-4o")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gpt-4o", "a", "gpt-4o:latest"} {
		for way, err := range h.everyWay(t.Context(), name) {
			if err != nil {
				t.Errorf("%s, %s: %v", name, way, err)
			}
		}
	}
	if h.started() != "gpt-4o" {
		t.Errorf("started %q, want one instance", h.started())
	}
	loaded := h.Loaded()
	if len(loaded) != 1 || loaded[0].Name != "gpt-4o" || !slices.Equal(loaded[0].Others, []string{"a"}) || loaded[0].Size == 0 || loaded[0].Context != 100_000 {
		t.Errorf("loaded %+v", loaded)
	}
	// Without the name that it was first asked for by, it goes on.
	if err := h.store.Remove(t.Context(), parse(t, "gpt-4o")); err != nil {
		t.Fatal(err)
	}
	h.mustAsk(t, "a")
	if h.started() != "gpt-4o" {
		t.Errorf("started %q, want one instance", h.started())
	}
	if loaded := h.Loaded(); len(loaded) != 1 || loaded[0].Name != "a" || len(loaded[0].Others) != 0 {
		t.Errorf("loaded under a name that is gone: %+v", loaded)
	}
}

func TestDefinition(t *testing.T) {
	h := newHouse(t, Config{Budget: 1 << 20, Context: 7, Threads: 3, Parallel: 2})
	defer h.Close()
	h.create(t, "plain", "weights", 8, "")
	h.put(t, "full", store.Config{ModelFormat: "gguf"}, map[string]string{
		store.MediaTypeModel:     "GGUF model",
		store.MediaTypeProjector: "GGUF projector",
		store.MediaTypeAdapter:   "GGUF adapter",
		store.MediaTypeTemplate:  "{{ .Prompt }}",
		store.MediaTypeSystem:    "Be brief.",
		store.MediaTypeMessages:  `[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]`,
		store.MediaTypeParams:    `{"num_ctx": 2048, "num_thread": 1, "temperature": 0.25, "stop": ["x"]}`,
	})
	h.mustAsk(t, "plain")
	h.mustAsk(t, "full")
	h.mu.Lock()
	launches := h.launches
	h.mu.Unlock()
	if got := launches[0]; got.Context != 7 || got.Threads != 3 || got.Parallel != 2 || got.Template != "" || got.Projector != "" || got.Adapters != nil {
		t.Errorf("a model without a definition: %+v", got)
	}
	if got := launches[1]; got.Context != 2048 || got.Threads != 1 || got.Parallel != 2 || got.Template == "" || got.Projector == "" || len(got.Adapters) != 1 {
		t.Errorf("a model with a definition: %+v", got)
	}
	for p := range h.alive {
		if p.launch.Name != "full" {
			continue
		}
		got := p.last
		if *got.Sampling.Temperature != 0.25 || len(got.Messages) != 4 || !cmp.Equal(got.Stop, []string{"x"}) {
			t.Errorf("the request %+v", got)
		}
	}
	req := conversation("full", "hello")
	if n, err := h.Count(t.Context(), req); n != 4 || err != nil {
		t.Errorf("counted %d messages, error %v", n, err)
	}
	if len(req.Messages) != 1 || req.Model != "full" || req.Stop != nil {
		t.Errorf("the client's request became %+v", req)
	}
}

// TestStopsAreTheClients: a stop string that the client did not send is none to
// it.
func TestStopsAreTheClients(t *testing.T) {
	h := newHouse(t, Config{})
	defer h.Close()
	h.create(t, "a", "a...", 10, `{"stop":["."]}`)
	for _, tt := range []struct {
		name string
		stop []string
		want engine.Choice
	}{
		{"the definition's", nil, engine.Choice{Reason: engine.FinishEndOfTurn}},
		{"the client's", []string{"x", ".."}, engine.Choice{Reason: engine.FinishStopSequence, StopSequence: ".."}},
		{"of both", []string{"."}, engine.Choice{Reason: engine.FinishStopSequence, StopSequence: "."}},
	} {
		req := conversation("a", "hello")
		req.Stop = tt.stop
		response, err := engine.Collect(h.Generate(t.Context(), req))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		got := response.Choices[0]
		if got.Reason != tt.want.Reason || got.StopSequence != tt.want.StopSequence {
			t.Errorf("%s: ended by %s %q, want %s %q", tt.name, got.Reason, got.StopSequence, tt.want.Reason, tt.want.StopSequence)
		}
	}
}

func TestPlacesAreTheClients(t *testing.T) {
	system := engine.Message{Role: engine.RoleSystem}
	user := engine.Message{Role: engine.RoleUser}
	for _, tt := range []struct {
		name     string
		messages []engine.Message
		sent     int // with those of the definition
		at       engine.Place
		want     engine.Place
	}{
		{"nothing was added", []engine.Message{user, user}, 2, engine.Place{Field: engine.FieldMessages, Index: 1}, engine.Place{Field: engine.FieldMessages, Index: 1}},
		{"the client's own instruction", []engine.Message{system, user}, 4, engine.Place{Field: engine.FieldMessages}, engine.Place{Field: engine.FieldMessages}},
		{"the definition's first", []engine.Message{system, user}, 4, engine.Place{Field: engine.FieldMessages, Index: 1}, engine.Place{Field: engine.FieldModel}},
		{"the definition's last", []engine.Message{system, user}, 4, engine.Place{Field: engine.FieldMessages, Index: 2}, engine.Place{Field: engine.FieldModel}},
		{"the client's turn", []engine.Message{system, user}, 4, engine.Place{Field: engine.FieldMessages, Index: 3}, engine.Place{Field: engine.FieldMessages, Index: 1}},
		{"instructions alone", []engine.Message{system}, 2, engine.Place{Field: engine.FieldMessages, Index: 1}, engine.Place{Field: engine.FieldModel}},
		{"another field", []engine.Message{user}, 2, engine.Place{Field: engine.FieldTools, Index: 1}, engine.Place{Field: engine.FieldTools, Index: 1}},
	} {
		err := engine.Errorf(engine.CodeInvalidArgument, "No.").At(tt.at)
		got := asClientSees(err, &engine.Request{Messages: tt.messages}, tt.sent)
		if place := engine.AsError(got).Place; place != tt.want {
			t.Errorf("%s: the place is %v, want %v", tt.name, place, tt.want)
		}
	}
	if err := asClientSees(nil, &engine.Request{}, 1); err != nil {
		t.Errorf("no error became %v", err)
	}
}

func TestRemote(t *testing.T) {
	h := newHouse(t, Config{Budget: 1})
	defer h.Close()
	h.put(t, "cloud", store.Config{RemoteHost: "https://host.example/v1", RemoteModel: "big"}, map[string]string{
		store.MediaTypeSystem: "Be brief.",
	})
	var asked modelfile.Remote
	if _, err := h.ask(t.Context(), "cloud"); engine.AsError(err).Code != engine.CodeUnsupported {
		t.Errorf("without upstream: %v", err)
	}
	upstream := &puppet{house: h, launch: Launch{Name: "cloud"}, content: "far", closed: make(chan struct{})}
	h.Engine.config.Upstream = func(_ context.Context, r modelfile.Remote) (engine.Engine, error) {
		asked = r
		return upstream, nil
	}
	if text := h.mustAsk(t, "cloud"); text != "far" {
		t.Errorf("the answer is %q", text)
	}
	if want := (modelfile.Remote{URL: "https://host.example/v1", Model: "big"}); asked != want {
		t.Errorf("asked %+v, want %+v", asked, want)
	}
	if len(upstream.last.Messages) != 2 {
		t.Errorf("the definition's text is not in %+v", upstream.last.Messages)
	}
	loaded := h.Loaded()
	if len(loaded) != 1 || loaded[0].Remote != "https://host.example/v1" || loaded[0].Size != 0 || h.started() != "" {
		t.Errorf("loaded %+v, started %q", loaded, h.started())
	}
}

func TestBrokenModel(t *testing.T) {
	h := newHouse(t, Config{Budget: 1 << 20})
	defer h.Close()
	h.put(t, "empty", store.Config{}, map[string]string{store.MediaTypeSystem: "x"})
	_, err := h.ask(t.Context(), "empty")
	got := engine.AsError(err)
	if got.Code != engine.CodeInternal || !got.NoRetry || !strings.Contains(got.Message, `The model "empty" is broken in the store`) || got.Err == nil {
		t.Errorf("error %v", err)
	}
}
