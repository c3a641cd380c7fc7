//go:build llamacpp && cgo

package llamacpp

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/engine/local/inspection/inspectiontest"
)

// TestSameTextWithDraftModel: a model that drafts for itself is nearly always right, and
// changes neither greedy texts nor sampled ones. A clock that stands still keeps it from
// turning itself off, as it makes nothing faster here.
func TestSameTextWithDraftModel(t *testing.T) {
	path := modelFile(t, smallest)
	options := Options{Path: path, Draft: path, Threads: 1, Context: 1024, Parallel: 4}
	c := configured(t, options)
	now := time.Now()
	c.Text.DraftModel.Now = func() time.Time { return now }
	with := decode.New(c)
	t.Cleanup(func() { with.Close() })
	without := openModel(t, Options{Path: path, Threads: 1, Context: 1024, Parallel: 4, NoDraft: true})
	person := personGrammar(t)
	for _, tt := range []struct {
		name   string
		change func(*chat.Job)
		held   int // at least, of 100 guesses
	}{
		{"greedy", func(*chat.Job) {}, 90},
		{"sampled", func(j *chat.Job) {
			j.Sampling = engine.Sampling{Temperature: new(0.7), TopK: new(40), TopP: new(0.95), Seed: new(int64(3))}
		}, 40},
		{"with a schema", func(j *chat.Job) { j.Constraint = person.Matcher() }, 50},
	} {
		before := with.Stats()
		jobs := func() (all []chat.Job) {
			for _, text := range questions {
				job := greedy(tokenize(t, with, ask(text)), 64)
				tt.change(&job)
				all = append(all, job)
			}
			return all
		}
		want := make([]string, len(questions))
		for i, job := range jobs() {
			want[i] = decodeAll(t, without, []chat.Job{job})[0].text
		}
		for i, job := range jobs()[:4] {
			if got := decodeAll(t, with, []chat.Job{job})[0].text; got != want[i] {
				t.Errorf("%s: %q gives %q without the second model and %q with it", tt.name, questions[i], want[i], got)
			}
		}
		for i, got := range decodeAll(t, with, jobs()) {
			if got.text != want[i] {
				t.Errorf("%s: %q gives %q without the second model and %q with it, beside others", tt.name, questions[i], want[i], got.text)
			}
		}
		s := with.Stats()
		steps, drafted, held := s.DraftSteps-before.DraftSteps, s.Drafted-before.Drafted, s.Held-before.Held
		t.Logf("%s: %d tokens in %d steps and %d of the second model, %d of %d guessed tokens held", tt.name, s.Generated-before.Generated, s.Steps-before.Steps, steps, held, drafted)
		if steps == 0 || 100*held < tt.held*drafted {
			t.Errorf("%s: %d steps of the second model, %d of %d held", tt.name, steps, held, drafted)
		}
	}
}

// reads counts the tokens that a draft model reads, before a position.
type reads struct {
	decode.DraftBackend
	before int
	read   int
}

func (r *reads) Decode(batch []decode.Entry, shared bool) decode.Outcome {
	for _, e := range batch {
		if int(e.Position) < r.before {
			r.read++
		}
	}
	return r.DraftBackend.Decode(batch, shared)
}

// TestSameTextWithSharedDraft: what eight texts begin with is read once by the model that
// drafts, and they are the same as without it. A clock that hardly moves says that it costs
// nothing.
func TestSameTextWithSharedDraft(t *testing.T) {
	path := modelFile(t, smallest)
	c := configured(t, Options{Path: path, Draft: path, Threads: 1, Context: 1024, Parallel: 8})
	now := time.Now()
	c.Text.DraftModel.Now = func() time.Time { now = now.Add(time.Microsecond); return now }
	second := &reads{DraftBackend: c.Text.DraftModel.Backend}
	c.Text.DraftModel.Backend = second
	with := decode.New(c)
	t.Cleanup(func() { with.Close() })
	without := openModel(t, Options{Path: path, Threads: 1, Context: 1024, Parallel: 8, NoDraft: true})
	prefix := tokenize(t, with, ask(strings.Repeat("Rivers carry water from the mountains to the sea. ", 30)))
	var jobs []chat.Job
	for i := range 8 {
		job := greedy(slices.Concat(prefix, tokenize(t, with, ask(questions[i%len(questions)]+strings.Repeat("!", i)))), 48)
		if i%2 == 1 {
			job.Sampling = engine.Sampling{Temperature: new(0.7), Seed: new(int64(i))}
		}
		jobs = append(jobs, job)
	}
	decodeAll(t, with, []chat.Job{greedy(tokenize(t, with, ask("What is a river?")), 48)}) // the guesses hold
	second.before = len(prefix)
	read := second.read
	want, got := decodeAll(t, without, jobs), decodeAll(t, with, jobs)
	for i := range jobs {
		if got[i].text != want[i].text {
			t.Errorf("text %d is %q without the second model and %q with it", i, want[i].text, got[i].text)
		}
	}
	s := with.Stats()
	t.Logf("%d steps of the second model, %d of %d guesses held; it read %d tokens of a prefix of %d", s.DraftSteps, s.DraftHeld, s.DraftChecked, second.read-read, len(prefix))
	if n := second.read - read; n < len(prefix)*9/10 || n > len(prefix) || s.DraftHeld < 100 {
		t.Errorf("%d tokens of a prefix of %d were read, %d guesses held", n, len(prefix), s.DraftHeld)
	}
}

// TestDraftModelRefused: a model with another vocabulary, without text, or with a state is refused
// before any weights are loaded, and one that does not fit, too.
func TestDraftModelRefused(t *testing.T) {
	smol := modelFile(t, smallest)
	empty := filepath.Join(t.TempDir(), "empty.gguf")
	if err := os.WriteFile(empty, new(gguf.Draft).Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	recipes, err := inspectiontest.Recipes(1)
	if err != nil {
		t.Fatal(err)
	}
	recurrent := recipes[slices.IndexFunc(recipes, func(r inspectiontest.Recipe) bool { return r.Architecture == "mamba" })]
	for _, tt := range []struct {
		name  string
		draft string
		free  int64
		want  string
	}{
		{"another vocabulary", modelFile(t, "qwen2.5-coder-0.5b"), 1 << 40, "vocabulary"},
		{"an encoder", modelFile(t, "minilm"), 1 << 40, "generates no text"},
		{"a recurrent one", written(t, made(t, recurrent)), 1 << 40, "cut back"},
		{"no model", empty, 1 << 40, "draft model"},
		{"no memory for both", smol, 300_000_000, "needs"},
	} {
		m, err := Open(t.Context(), Options{Path: smol, Draft: tt.draft, Context: 512, Parallel: 1, Available: func() (int64, error) { return tt.free, nil }})
		if err == nil {
			m.Close()
		}
		var refused *engine.Error
		if !errors.As(err, &refused) || refused.Code != engine.CodeUnsupported || !refused.NoRetry || !strings.Contains(refused.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	_, err = Open(t.Context(), Options{Path: modelFile(t, "minilm"), Draft: smol, Context: 512, Parallel: 1, Available: func() (int64, error) { return 1 << 40, nil }})
	if refused := engine.AsError(err); refused == nil || refused.Code != engine.CodeUnsupported || !strings.Contains(refused.Message, "cannot check what it guesses") {
		t.Errorf("for an encoder: %v", err)
	}
	m := openModel(t, Options{Path: smol, Context: 512, Parallel: 1, Available: func() (int64, error) { return 300_000_000, nil }})
	m.Close() // without the second model it fits
}
