package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/cmd/diglot/internal/terminal/conversation"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/local/runner"
	"github.com/diglot/diglot/engine/models/modelfile"
	"github.com/diglot/diglot/engine/models/store"
	"github.com/diglot/diglot/engine/script"
	"github.com/diglot/diglot/engine/upstream"
	"github.com/diglot/diglot/handlers"
)

// places are where a sampling parameter shows. Each returns the value that
// arrives there where value is set.
var places = map[string]func(t *testing.T, p *engine.SamplingParam, value any) any{
	"Modelfile, read":    inModelfile,
	"Modelfile, printed": inPrintedModelfile,
	"merging":            inMerged,
	"trace":              inTrace,
	"upstream body":      inUpstreamBody,
	"script":             inScript,
	"runner frame":       inFrame,
	"runner frame back":  inFrameBack,
	"sampler's job":      inJob,
	"/set":               inSettings,
}

// TestSamplingPlaces: a parameter that is in the table is everywhere.
func TestSamplingPlaces(t *testing.T) {
	for p := range engine.SamplingParams() {
		for place, arrives := range places {
			t.Run(p.Name+"/"+place, func(t *testing.T) {
				value := p.Value(1)
				if value == p.Default {
					value = p.Value(0)
				}
				if got := arrives(t, p, value); fmt.Sprint(got) != fmt.Sprint(value) {
					t.Errorf("%v arrives, want %v", got, value)
				}
			})
		}
	}
}

// TestMadeUpParameter adds one line to the table, and nothing else.
func TestMadeUpParameter(t *testing.T) {
	const file, name = "../../engine/sampling.go", "made_up"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("\tMadeUp *float64 `name:%q range:\"0 9\" neutral:\"0\" default:\"0.5\" upstream:%[1]q help:\"made up\"`\n", name)
	const behind = "\tLogitBias        map[int]float64\n"
	if !bytes.Contains(source, []byte(behind)) {
		t.Fatal("the end of the table is not where it was")
	}
	dir := t.TempDir()
	doctored, overlay := filepath.Join(dir, "sampling.go"), filepath.Join(dir, "overlay.json")
	write(t, doctored, bytes.Replace(source, []byte(behind), []byte(line+behind), 1))
	here, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	replace, _ := json.Marshal(map[string]any{"Replace": map[string]string{here: doctored}})
	write(t, overlay, replace)
	out, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-vet=off", "-v", "-run", "^TestSamplingPlaces$/^"+name+"$", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for place := range places {
		if want := "--- PASS: TestSamplingPlaces/" + name + "/" + strings.ReplaceAll(place, " ", "_"); !bytes.Contains(out, []byte(want)) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// create makes a model that is served elsewhere.
func create(t *testing.T, p *engine.SamplingParam, value any) (*store.Store, *store.Model) {
	t.Helper()
	s, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	f, err := modelfile.Parse(strings.NewReader(fmt.Sprintf("FROM https://host.example/v1\nPARAMETER model m\nPARAMETER %s %v\n", p.Name, value)))
	if err != nil {
		t.Fatal(err)
	}
	name, err := store.ParseName("m")
	if err != nil {
		t.Fatal(err)
	}
	m, err := modelfile.Create(t.Context(), modelfile.Source{Store: s}, name, f)
	if err != nil {
		t.Fatal(err)
	}
	return s, m
}

func inModelfile(t *testing.T, p *engine.SamplingParam, value any) any {
	d, err := modelfile.Read(create(t, p, value))
	if err != nil {
		t.Fatal(err)
	}
	return p.Get(&d.Parameters.Sampling)
}

func inPrintedModelfile(t *testing.T, p *engine.SamplingParam, value any) any {
	f, err := modelfile.Of(create(t, p, value))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(f.String(), "PARAMETER "+p.Name+" ")
	printed, _, _ := strings.Cut(rest, "\n")
	return printed
}

func inMerged(_ *testing.T, p *engine.SamplingParam, value any) any {
	d := &modelfile.Definition{}
	p.Set(&d.Parameters.Sampling, value)
	req := &engine.Request{Prompt: &engine.Prompt{}}
	d.Apply(req)
	return p.Get(&req.Sampling)
}

// request sets one parameter.
func request(p *engine.SamplingParam, value any) *engine.Request {
	req := &engine.Request{Model: "m", Messages: []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "u"}}}}}
	p.Set(&req.Sampling, value)
	return req
}

// peer is an engine that remembers its request, after a change of it, and
// says that it uses what it was asked for.
type peer struct {
	engine.Engine
	change func(*engine.Sampling)
	asked  *engine.Request
}

func (e *peer) Models(context.Context) ([]engine.Model, error) {
	return []engine.Model{{Name: "m"}}, nil
}

func (e *peer) Generate(_ context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	e.change(&req.Sampling)
	e.asked = req
	return func(yield func(engine.Event, error) bool) {
		for _, event := range []engine.Event{engine.Start{Used: engine.Used{Sampling: req.Sampling}}, engine.Finish{Reason: engine.FinishEndOfTurn}, engine.Done{}} {
			if !yield(event, nil) {
				return
			}
		}
	}
}

func newPeer() *peer { return &peer{change: func(*engine.Sampling) {}} }

func inTrace(t *testing.T, p *engine.SamplingParam, value any) any {
	var trace bytes.Buffer
	e := &peer{change: func(s *engine.Sampling) { p.Set(s, value) }} // no style has every parameter
	h, err := handlers.New(handlers.Config{Engine: e, Log: slog.New(slog.DiscardHandler), Trace: &trace})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"u"}]}`))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	h.ServeHTTP(httptest.NewRecorder(), r)
	var line struct {
		Request struct{ Sampling engine.Sampling }
	}
	if err := json.Unmarshal(trace.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	return p.Get(&line.Request.Sampling)
}

func inUpstreamBody(t *testing.T, p *engine.SamplingParam, value any) any {
	var body map[string]any
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&body)
		w.WriteHeader(http.StatusBadRequest)
	}))
	defer far.Close()
	e, err := upstream.New(upstream.Config{BaseURL: far.URL, Model: "m", Log: slog.New(slog.DiscardHandler), HTTP: far.Client(), Tries: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range e.Generate(t.Context(), request(p, value)) {
		continue
	}
	for _, name := range append(p.Upstream, p.Name) {
		if got, ok := body[name]; ok {
			return got
		}
	}
	return nil
}

const scene = `models: {m: {replies: [{pieces: ["a"]}]}}`

func player(t *testing.T) *script.Model {
	t.Helper()
	models, err := script.Load(strings.NewReader(scene))
	if err != nil {
		t.Fatal(err)
	}
	return models[0]
}

func inScript(t *testing.T, p *engine.SamplingParam, value any) any {
	e, err := player(t).Engine(slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return used(t, e, p, value)
}

// used is what the first event of the answer says.
func used(t *testing.T, e engine.Engine, p *engine.SamplingParam, value any) any {
	t.Helper()
	r, err := engine.Collect(e.Generate(t.Context(), request(p, value)))
	if err != nil {
		t.Fatal(err)
	}
	return p.Get(&r.Used.Sampling)
}

// dial serves e at the other end of a socket.
func dial(t *testing.T, e engine.Engine) *runner.Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- runner.Serve(ctx, l, e) }()
	c := runner.Dial(path, runner.NewBudget())
	t.Cleanup(func() {
		_ = c.Close()
		cancel()
		<-served
	})
	return c
}

func inFrame(t *testing.T, p *engine.SamplingParam, value any) any {
	e := newPeer()
	used(t, dial(t, e), p, value)
	return p.Get(&e.asked.Sampling)
}

func inFrameBack(t *testing.T, p *engine.SamplingParam, value any) any {
	return used(t, dial(t, newPeer()), p, value)
}

// spy sees the job that the sampler is set up with.
type spy struct {
	*script.Model
	job chat.Job
}

func (s *spy) Decode(ctx context.Context, job chat.Job) iter.Seq2[chat.Piece, error] {
	s.job = job
	return s.Model.Decode(ctx, job)
}

func inJob(t *testing.T, p *engine.SamplingParam, value any) any {
	s := &spy{Model: player(t)}
	e, err := chat.New(s, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	used(t, e, p, value)
	return p.Get(&s.job.Sampling)
}

func inSettings(t *testing.T, p *engine.SamplingParam, value any) any {
	var s conversation.Settings
	if err := s.Set(p.Name, fmt.Sprint(value)); err != nil {
		t.Fatal(err)
	}
	return p.Get(&s.Sampling)
}
