package library

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/memory"
	"github.com/diglot/diglot/engine/models/store"
)

// house is a store, and an engine over it whose instances are puppets. The
// size of a model is that of its file.
type house struct {
	*Engine
	store *store.Store

	mu       sync.Mutex
	launches []Launch
	alive    map[*puppet]bool
	failure  error         // of the next starts
	hold     chan struct{} // not nil: starts wait until it is closed
	wrap     func(*puppet) Instance
}

func newHouse(t *testing.T, c Config) *house {
	t.Helper()
	store, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{store: store, alive: map[*puppet]bool{}}
	c.Store, c.Log = store, slog.New(slog.DiscardHandler)
	c.Start, c.Plan = h.start, plan
	h.Engine = New(c)
	return h
}

// plan is that of a model whose cache takes one byte for each token, and
// which has 100,000 of them where memory allows.
func plan(l Launch, free int64) (memory.Plan, error) {
	info, err := os.Stat(l.Path)
	if err != nil {
		return memory.Plan{}, err
	}
	p := memory.Plan{Weights: info.Size(), Context: l.Context}
	if l.Context == 0 {
		p.Context = int(min(max(free-p.Weights, 0), 100_000))
	}
	p.Cache = int64(p.Context)
	if p.Context == 0 || p.Weights+p.Cache > free {
		return memory.Plan{}, &memory.DoesNotFit{Plan: p, Available: free}
	}
	return p, nil
}

func (h *house) start(ctx context.Context, l Launch) (Instance, error) {
	h.mu.Lock()
	h.launches = append(h.launches, l)
	failure, hold := h.failure, h.hold
	h.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if failure != nil {
		return nil, failure
	}
	content, err := os.ReadFile(l.Path)
	if err != nil {
		return nil, err
	}
	p := &puppet{house: h, launch: l, content: string(content[:4]), closed: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.alive[p] = true
	if h.wrap != nil {
		return h.wrap(p), nil
	}
	return p, nil
}

// started lists the names of all launches, and running those of the models in
// memory.
func (h *house) started() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for _, l := range h.launches {
		names = append(names, l.Name)
	}
	return strings.Join(names, " ")
}

func (h *house) running() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.alive)
}

// create makes a model whose file has the content, padded with zeros to a
// size, and the parameters.
func (h *house) create(t *testing.T, name, content string, size int, params string) {
	t.Helper()
	h.put(t, name, store.Config{ModelFormat: "gguf"}, map[string]string{
		store.MediaTypeModel:  content + strings.Repeat("\x00", size-len(content)),
		store.MediaTypeParams: params,
	})
}

// put makes a model of its layers; empty ones are left out.
func (h *house) put(t *testing.T, name string, config store.Config, layers map[string]string) {
	t.Helper()
	c, err := h.store.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var m store.Manifest
	write := func(mediaType, text string) store.Layer {
		l, err := c.Write(t.Context(), mediaType, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	encoded, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	m.Config = write(store.MediaTypeConfig, string(encoded))
	for mediaType, text := range layers {
		if text != "" {
			m.Layers = append(m.Layers, write(mediaType, text))
		}
	}
	text, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Put(t.Context(), parse(t, name), text); err != nil {
		t.Fatal(err)
	}
}

func parse(t *testing.T, name string) store.Name {
	t.Helper()
	n, err := store.ParseName(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// ask sends a short conversation and returns the text of the answer.
func (h *house) ask(ctx context.Context, model string) (string, error) {
	reply, err := engine.Collect(h.Generate(ctx, conversation(model, "hello")))
	if err != nil {
		return "", err
	}
	return reply.Choices[0].Blocks[0].Text, nil
}

func (h *house) mustAsk(t *testing.T, model string) string {
	t.Helper()
	text, err := h.ask(t.Context(), model)
	if err != nil {
		t.Fatalf("model %q: %v", model, err)
	}
	return text
}

// begin starts a request that is answered when finish is called, and returns
// once it runs.
func (h *house) begin(t *testing.T, model string) (finish func()) {
	t.Helper()
	next, stop := iter.Pull2(h.Generate(t.Context(), conversation(model, "wait")))
	if _, err, _ := next(); err != nil {
		t.Fatalf("model %q: %v", model, err)
	}
	return stop
}

func conversation(model, text string) *engine.Request {
	return &engine.Request{
		Model:    model,
		Messages: []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: text}}}},
		Choices:  1,
	}
}

// puppet answers with what its file begins with. It looks at what it gets:
// see [puppet.check].
type puppet struct {
	house   *house
	launch  Launch
	content string
	closed  chan struct{}

	mu   sync.Mutex
	last *engine.Request
}

func (p *puppet) Close() error {
	p.house.mu.Lock()
	defer p.house.mu.Unlock()
	if !p.house.alive[p] {
		return errors.New("closed twice")
	}
	delete(p.house.alive, p)
	close(p.closed)
	return nil
}

// check finds a request that came to the wrong instance, or too late.
func (p *puppet) check(model string) error {
	select {
	case <-p.closed:
		return engine.Errorf(engine.CodeEngineCrashed, "The instance is closed.")
	default:
	}
	if model != p.launch.Name {
		return engine.Errorf(engine.CodeInternal, "asked for %q, and this is %q", model, p.launch.Name)
	}
	return nil
}

func (p *puppet) Models(context.Context) ([]engine.Model, error) {
	return []engine.Model{{Name: p.launch.Name}}, nil
}

func (p *puppet) Generate(_ context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		p.mu.Lock()
		p.last = req
		p.mu.Unlock()
		if err := p.check(req.Model); err != nil {
			yield(nil, err)
			return
		}
		for _, event := range []engine.Event{
			engine.Start{PromptTokens: 1},
			engine.BlockStart{Kind: engine.BlockText},
			engine.TextDelta{Text: p.content},
			engine.BlockStop{},
			p.finish(req),
			engine.Done{Usage: engine.Usage{PromptTokens: 1, CompletionTokens: 1}},
		} {
			if !yield(event, p.check(req.Model)) {
				return
			}
		}
	}
}

// finish is by the first stop string that the content ends with.
func (p *puppet) finish(req *engine.Request) engine.Finish {
	for _, stop := range req.Stop {
		if strings.HasSuffix(p.content, stop) {
			return engine.Finish{Reason: engine.FinishStopSequence, StopSequence: stop}
		}
	}
	return engine.Finish{Reason: engine.FinishEndOfTurn}
}

func (p *puppet) Count(_ context.Context, req *engine.Request) (int, error) {
	return len(req.Messages), p.check(req.Model)
}

func (p *puppet) Embed(_ context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	return &engine.Embeddings{Vectors: [][]float32{{1}}}, p.check(req.Model)
}

func (p *puppet) GenerateImages(_ context.Context, req *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) { yield(engine.Drawn{}, p.check(req.Model)) }
}

// everyWay asks for a model in every way that there is.
func (h *house) everyWay(ctx context.Context, model string) map[string]error {
	_, generate := h.ask(ctx, model)
	_, count := h.Count(ctx, conversation(model, "hello"))
	_, embed := h.Embed(ctx, &engine.EmbeddingRequest{Model: model})
	_, images := engine.CollectImages(h.GenerateImages(ctx, &engine.ImageRequest{Model: model}))
	_, find := engine.FindModel(ctx, h.Engine, model)
	return map[string]error{
		"generate": generate, "count": count, "embed": embed, "images": images, "find": find, "load": h.Load(ctx, model),
	}
}
