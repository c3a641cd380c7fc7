package decode

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// timed is a reciter whose steps take time.
type timed struct {
	*reciter
	one, row time.Duration // of a step with one row, and of each further one
}

func (b timed) Decode(batch []Entry, shared bool) Outcome {
	time.Sleep(b.one + time.Duration(len(batch)-1)*b.row)
	return b.reciter.Decode(batch, shared)
}

// scattered is a text that does not repeat itself.
func scattered(position int) int32 { return 1 + int32(position*position*31+position*7)%990 }

// pairing is a model that is drafted for by another.
type pairing struct {
	first, second *reciter
	one, row      time.Duration // of the second; the first takes 10 and 1 ms
	cells         int           // of the second
	context       int
	tokens        int // of its vocabulary
	parallel      int
	alone         int // jobs that are computed before the others, one by one
}

func paired(t *testing.T, guesses func(int) int32) *pairing {
	return &pairing{
		first:  &reciter{newCounter(t, 4096), scattered, 25},
		second: &reciter{newCounter(t, 4096), guesses, 25},
		one:    2 * time.Millisecond, row: 200 * time.Microsecond,
		cells: 4096, context: 1024, tokens: 1000, parallel: 4,
	}
}

// open starts the model, with the second one or without.
func (p *pairing) open(t *testing.T, drafts bool) *Model {
	p.first.t, p.second.t, p.second.capacity = t, t, p.cells
	text := &Text{Backend: timed{p.first, 10 * time.Millisecond, time.Millisecond}, Parallel: p.parallel, Cells: p.first.capacity, Draft: drafts}
	if drafts {
		text.DraftModel = &DraftModel{Backend: timed{p.second, p.one, p.row}, Cells: p.cells, Context: p.context, Tokens: p.tokens}
	}
	m := New(Config{Info: chat.Info{Context: 1024}, Vocabulary: p.first.vocab, Text: text, Free: func() {}, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { m.Close() })
	return m
}

// run computes jobs, the first alone ones one by one and then the others together, and
// checks what they leave behind.
func (p *pairing) run(t *testing.T, drafts bool, jobs []chat.Job) (all [][]chat.Piece, stats Stats, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := p.open(t, drafts)
		start := time.Now()
		all = make([][]chat.Piece, len(jobs))
		compute := func(i int) {
			for piece, err := range m.Decode(context.Background(), jobs[i]) {
				if err != nil {
					t.Errorf("job %d: %v", i, err)
				}
				all[i] = append(all[i], piece)
			}
		}
		var together sync.WaitGroup
		for i := range jobs {
			if i < p.alone {
				compute(i)
				continue
			}
			together.Go(func() { compute(i) })
		}
		together.Wait()
		took = time.Since(start)
		synctest.Wait()
		stats = m.Stats()
		p.checkSlots(t, m)
		m.Close()
	})
	return all, stats, took
}

// checkSlots: of the second model no slot is busy, and its cells are those that the
// slots hold.
func (p *pairing) checkSlots(t *testing.T, m *Model) {
	t.Helper()
	if m.loop.drafter == nil {
		return
	}
	s := m.loop.drafter.second
	for _, slot := range s.slots {
		if slot.busy {
			t.Errorf("slot %d is busy", slot.id)
		}
		if !slices.Equal(slot.tokens, p.second.texts[slot.id]) {
			t.Errorf("slot %d should have %d tokens, and the backend has others: %d", slot.id, len(slot.tokens), len(p.second.texts[slot.id]))
		}
	}
	if held, free := distinct(s.cells, s.slots, func(s *slot) []int32 { return s.cells }), s.cells.available(); free != p.cells-held || held != p.second.used() {
		t.Errorf("%d cells are free of %d, and slots hold %d, the backend %d", free, p.cells, held, p.second.used())
	}
}

// everyOther is right at every other position.
func everyOther(position int) int32 { return scattered(position) + int32(position%2) }

func wrong(position int) int32 { return scattered(position) + 1 }

// TestDraftModelChangesNothing: texts and probabilities are the same with a second model
// and without, whatever it says.
func TestDraftModelChangesNothing(t *testing.T) {
	job := func(seed int, s engine.Sampling) chat.Job {
		s.Seed = new(int64(seed))
		return chat.Job{Prompt: testPrompt(seed, 20+30*seed, 5), MaxTokens: 100, Logprobs: new(2), Sampling: s}
	}
	cool, warm := engine.Sampling{Temperature: new(0.0)}, engine.Sampling{Temperature: new(1.5)}
	narrow := engine.Sampling{Temperature: new(2.0), TopK: new(20), TopP: new(0.9), MinP: new(0.05), FrequencyPenalty: new(0.2), RepeatPenalty: new(1.05)}
	longer := job(4, cool)
	longer.MaxTokens = 5000
	for _, tt := range []struct {
		name    string
		guesses func(int) int32
		jobs    []chat.Job
		alone   int
		cells   int
		steps   int // at most, of 100 without
		unasked bool
	}{
		{"right", scattered, []chat.Job{job(1, cool)}, 0, 4096, 30, false},
		{"right, and sampled", scattered, []chat.Job{job(1, warm)}, 0, 4096, 40, false},
		{"half right", everyOther, []chat.Job{job(1, cool)}, 0, 4096, 90, false},
		{"half right, and sampled", everyOther, []chat.Job{job(1, narrow)}, 0, 4096, 100, false},
		{"wrong", wrong, []chat.Job{job(1, cool)}, 0, 4096, 100, false},
		{"until the context is full", scattered, []chat.Job{longer}, 0, 4096, 30, false},
		{"several texts", scattered, []chat.Job{longer, job(1, cool), job(2, warm), job(3, narrow)}, 1, 4096, 20, false},
		{"few cells", scattered, []chat.Job{job(2, cool), job(1, cool), job(2, warm), job(3, narrow)}, 1, 256, 80, false},
		{"one prefix", scattered, append([]chat.Job{longer}, prefixed(6, 200)...), 1, 4096, 40, false},
		{"one prefix, and few cells", scattered, append([]chat.Job{longer}, prefixed(6, 200)...), 1, 1000, 80, false},
		{"no cells", scattered, []chat.Job{job(1, cool)}, 0, 20, 100, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := paired(t, tt.guesses)
			p.alone = tt.alone
			want, plain, slow := p.run(t, false, tt.jobs)
			p = paired(t, tt.guesses)
			p.cells, p.alone = tt.cells, tt.alone
			got, stats, fast := p.run(t, true, tt.jobs)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(chat.Piece{}, "Cached")); diff != "" {
				t.Errorf("-without +with the second model:\n%s", diff)
			}
			if plain.FreeCells != stats.FreeCells || plain.Generated != stats.Generated || plain.Prefilled != stats.Prefilled {
				t.Errorf("without the second model %+v, with it %+v", plain, stats)
			}
			if stats.Steps*100 > plain.Steps*tt.steps || (stats.DraftSteps == 0) != tt.unasked {
				t.Errorf("%d steps and %d of the second model, %d of %d held; %d steps without", stats.Steps, stats.DraftSteps, stats.Held, stats.Drafted, plain.Steps)
			}
			t.Logf("%v and %v, %d and %d steps, %d of the second model, %d of %d held", slow, fast, plain.Steps, stats.Steps, stats.DraftSteps, stats.Held, stats.Drafted)
			if fast > slow*11/10 {
				t.Errorf("%v with the second model, %v without", fast, slow)
			}
		})
	}
}

// TestDraftModelTurnsItselfOff: a second model that is slow, wrong, or one of many
// streams is hardly asked.
func TestDraftModelTurnsItselfOff(t *testing.T) {
	many := make([]chat.Job, 12)
	for i := range many {
		many[i] = chat.Job{Prompt: testPrompt(i, 20, 5), MaxTokens: 200}
	}
	fixed := func(token int32) func(*pairing) {
		return func(p *pairing) { p.second.favourite = func(int) int32 { return token } }
	}
	constrained := []chat.Job{many[0]}
	constrained[0].Constraint = matcher(t, grammarOf(t, "^[a-y]*$"))
	for _, tt := range []struct {
		name   string
		change func(*pairing)
		jobs   []chat.Job
		most   int // steps of the second model
		least  int
	}{
		{"right and fast", func(*pairing) {}, many[:1], 200, 100},
		{"as slow as the first", func(p *pairing) { p.one = 10 * time.Millisecond }, many[:1], 20, 1},
		{"wrong", func(p *pairing) { p.second.favourite = wrong }, many[:1], 40, 1},
		{"says the end", fixed(0), many[:1], 40, 1},
		{"says what a grammar rules out", fixed(25), constrained, 40, 1}, // "z"
		{"many streams", func(p *pairing) { p.parallel, p.row = 12, p.one }, many, 120, 0},
		{"longer than its context", func(p *pairing) { p.context = 15 }, many[:1], 0, 0},
		{"a prompt of tokens that it lacks", func(p *pairing) { p.tokens = 4 }, many[:1], 0, 0},
	} {
		p := paired(t, scattered)
		tt.change(p)
		_, stats, _ := p.run(t, true, tt.jobs)
		if stats.DraftSteps > tt.most || stats.DraftSteps < tt.least {
			t.Errorf("%s: %d steps of the second model, want %d to %d; %d of the first", tt.name, stats.DraftSteps, tt.least, tt.most, stats.Steps)
		}
	}
}

// TestDraftModelReadsPrompts: a long prompt is read in pieces, when that will pay, and
// not again for the next turn.
func TestDraftModelReadsPrompts(t *testing.T) {
	p := paired(t, scattered)
	most := 0
	p.second.turn = func(int) { most = max(most, len(p.second.last)) }
	synctest.Test(t, func(t *testing.T) {
		m := p.open(t, true)
		ask := func(prompt []int32, tokens int) (steps, read int) {
			before := p.second.read
			stats := m.Stats()
			collect(t.Context(), m, chat.Job{Prompt: prompt, MaxTokens: tokens})
			synctest.Wait()
			return m.Stats().Steps - stats.Steps, p.second.read - before
		}
		prompt := testPrompt(1, 900, 5)
		if _, read := ask(prompt, 20); read != 0 {
			t.Errorf("%d tokens were read for an answer of 20", read)
		}
		steps, read := ask(testPrompt(2, 400, 5), 600)
		if read < 400 || most > PrefillChunk || steps > 300 {
			t.Errorf("%d tokens were read in pieces of up to %d, and the answer took %d steps", read, most, steps)
		}
		var next []int32
		for _, slot := range m.loop.drafter.second.slots {
			if len(slot.tokens) > 700 {
				next = slices.Concat(slot.tokens[:700], testPrompt(3, 20, 7))
			}
		}
		if _, read := ask(next, 30); read == 0 || read > 100 {
			t.Errorf("%d tokens were read for the next turn", read)
		}
		m.Close()
	})
}

// prefixed are texts that begin with the same 600 tokens.
func prefixed(texts, tokens int) (jobs []chat.Job) {
	for i := range texts {
		jobs = append(jobs, chat.Job{Prompt: slices.Concat(testPrompt(1, 600, 5), testPrompt(20+i, 5+i, 6)), MaxTokens: tokens})
	}
	return jobs
}

// positions counts the tokens that are read before a position.
type positions struct {
	timed
	before int32
	read   int
}

func (b *positions) Decode(batch []Entry, shared bool) Outcome {
	for _, e := range batch {
		if e.Position < b.before {
			b.read++
		}
	}
	return b.timed.Decode(batch, shared)
}

// TestDraftModelReadsPrefixOnce: what several texts begin with is read for one of them,
// whether they come together or one after another, and whether the slots of texts that
// have ended are as many or not.
func TestDraftModelReadsPrefixOnce(t *testing.T) {
	for _, tt := range []struct {
		name     string
		parallel int
		together bool
	}{
		{"together", 8, true},
		{"together, more than the slots", 4, true},
		{"one after another", 8, false},
		{"one after another, in one slot", 1, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := paired(t, scattered)
			p.parallel, p.one, p.row = tt.parallel, time.Millisecond, 20*time.Microsecond
			m := p.open(t, true)
			collect(t.Context(), m, chat.Job{Prompt: testPrompt(9, 20, 5), MaxTokens: 200}) // tells that it is fast
			reads := &positions{timed: timed{p.second, p.one, p.row}, before: 600}
			m.loop.drafter.second.Backend = reads
			jobs := prefixed(8, 200)
			if tt.together {
				together(m, jobs...)
			} else {
				for _, job := range jobs {
					collect(t.Context(), m, job)
				}
			}
			synctest.Wait()
			if reads.read != 600 || m.Stats().DraftHeld < 8*100 {
				t.Errorf("%s: %d tokens of a prefix of 600 were read, and %d guesses held", tt.name, reads.read, m.Stats().DraftHeld)
			}
			p.checkSlots(t, m)
			m.Close()
		})
	}
}

// TestDraftModelKeepsTexts: a text that begins like one that has ended takes a slot of its
// own, while there is one, and leaves that text for the next turn of its conversation.
func TestDraftModelKeepsTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := paired(t, scattered)
		p.one, p.row = time.Millisecond, 20*time.Microsecond
		m := p.open(t, true)
		jobs := prefixed(2, 200)
		collect(t.Context(), m, chat.Job{Prompt: testPrompt(9, 20, 5), MaxTokens: 200}) // tells that it is fast
		for _, job := range jobs {
			collect(t.Context(), m, job)
		}
		synctest.Wait()
		for i, job := range jobs {
			longest := 0
			for _, slot := range m.loop.drafter.second.slots {
				longest = max(longest, commonPrefix(slot.tokens, job.Prompt))
			}
			if longest < len(job.Prompt)-1 {
				t.Errorf("of the prompt of text %d, %d tokens, %d are left", i, len(job.Prompt), longest)
			}
		}
		m.Close()
	})
}

// TestDraftModelReadsWhatFits: of long texts that want more cells than there are, some
// are read whole and get guesses, and not all of them a part.
func TestDraftModelReadsWhatFits(t *testing.T) {
	p := paired(t, scattered)
	p.cells, p.one, p.row = 1000, time.Millisecond, 20*time.Microsecond
	p.alone = 1 // tells that it is fast
	jobs := []chat.Job{{Prompt: testPrompt(9, 20, 5), MaxTokens: 200}}
	for i := range p.parallel {
		jobs = append(jobs, chat.Job{Prompt: testPrompt(i, 300, 5), MaxTokens: 400})
	}
	_, stats, _ := p.run(t, true, jobs)
	if p.second.read > 6000 || stats.Held < 800 {
		t.Errorf("%d tokens were read, and %d guesses of %d held", p.second.read, stats.Held, stats.Drafted)
	}
}

// TestDraftModelNeedsRoom: no step of the second model is for a guess that the first one
// has no rows for.
func TestDraftModelNeedsRoom(t *testing.T) {
	p := paired(t, scattered)
	synctest.Test(t, func(t *testing.T) {
		p.first.capacity = 300
		m := p.open(t, true)
		steps := 0
		p.second.turn = func(int) {
			steps++
			second, guessed := m.loop.drafter.second, 0
			for _, slot := range second.slots {
				guessed += len(slot.guess.Tokens)
			}
			if room := m.loop.room(len(m.loop.running)); guessed >= room && !second.reads {
				t.Errorf("step %d: room for %d guesses, and there are %d", steps, room, guessed)
			}
		}
		var jobs []chat.Job
		for i := range 4 {
			jobs = append(jobs, chat.Job{Prompt: testPrompt(i, 20, 5), MaxTokens: 200})
		}
		together(m, jobs...)
		if s := m.Stats(); steps == 0 || s.Preempted == 0 {
			t.Errorf("%d steps: %+v", steps, s)
		}
		m.Close()
	})
}

// leaving is a second model whose client leaves between two of its steps.
type leaving struct {
	timed
	at    int
	leave func()
}

func (b leaving) Logits(row int) []float32 {
	if b.steps == b.at {
		b.leave()
	}
	return b.timed.Logits(row)
}

// TestLeaveBetweenDraftSteps: nothing more is guessed for a client that left.
func TestLeaveBetweenDraftSteps(t *testing.T) {
	for at := 1; at < 20; at++ {
		synctest.Test(t, func(t *testing.T) {
			p := paired(t, scattered)
			ctx, cancel := context.WithCancel(t.Context())
			m := p.open(t, true)
			m.loop.drafter.second.Backend = leaving{timed{p.second, p.one, p.row}, at, cancel}
			for range m.Decode(ctx, chat.Job{Prompt: testPrompt(1, 20, 5), MaxTokens: 200}) {
			}
			time.Sleep(time.Second) // for all that it does yet
			synctest.Wait()
			if p.second.steps != at {
				t.Errorf("%d more steps for a client that left after step %d", p.second.steps-at, at)
			}
			p.checkSlots(t, m)
			m.Close()
		})
	}
}

// TestLeaveDraftModel: a client that leaves, in a step of the second model too, leaves
// nothing behind, and the step ends.
func TestLeaveDraftModel(t *testing.T) {
	for at := 1; at < 40; at++ {
		synctest.Test(t, func(t *testing.T) {
			p := paired(t, scattered)
			ctx, cancel := context.WithCancel(t.Context())
			p.second.turn = func(step int) {
				if step == at {
					cancel()
					<-p.second.asked // to stop
				}
			}
			m := p.open(t, true)
			for range m.Decode(ctx, chat.Job{Prompt: testPrompt(1, 20, 5), MaxTokens: 200}) {
			}
			if ctx.Err() == nil {
				t.Fatalf("at step %d of the second model: the client did not leave", at)
			}
			steps := p.first.steps
			synctest.Wait()
			if s := m.Stats(); s.Running != 0 || p.first.steps != steps || p.second.steps != at {
				t.Errorf("at step %d of the second model: %+v, then %d steps, %d of the second model", at, s, p.first.steps-steps, p.second.steps-at)
			}
			p.checkSlots(t, m)
			p.second.turn = nil
			again := collect(t.Context(), m, chat.Job{Prompt: testPrompt(1, 20, 5), MaxTokens: 30})
			if again.err != nil || len(again.text) != 30 {
				t.Errorf("at step %d: then %q, %v", at, again.text, again.err)
			}
			m.Close()
		})
	}
}

// failing is a second model that fails.
type failing struct{ timed }

func (f failing) Decode([]Entry, bool) Outcome {
	f.steps++
	return Failed
}

// TestDraftModelFails: a second model that fails is not needed, and asked no more.
func TestDraftModelFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := paired(t, scattered)
		m := p.open(t, true)
		m.loop.drafter.second.Backend = failing{timed{p.second, 0, 0}}
		for i := range 2 {
			r := collect(t.Context(), m, chat.Job{Prompt: testPrompt(i, 20, 5), MaxTokens: 60})
			if r.err != nil || len(r.text) != 60 {
				t.Errorf("text %d: %q, %v", i, r.text, r.err)
			}
		}
		if p.second.steps != 1 {
			t.Errorf("it was asked %d times", p.second.steps)
		}
		m.Close()
	})
}

// TestDraftModelLogs: the log says how good the guesses of the second model are when a text
// has ended, and not more often than once a minute.
func TestDraftModelLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := paired(t, everyOther)
		m := p.open(t, true)
		var log bytes.Buffer
		m.loop.log = slog.New(slog.NewTextHandler(&log, nil))
		for i, wait := range []time.Duration{0, 0, 0, tellEvery, 0} {
			time.Sleep(wait)
			if r := collect(t.Context(), m, chat.Job{Prompt: testPrompt(i, 20, 5), MaxTokens: 100}); r.err != nil {
				t.Fatal(r.err)
			}
			synctest.Wait()
			s := m.Stats()
			want := fmt.Sprintf("level=INFO msg=\"guesses of the draft model\" steps=%d checked=%d held=%d generated=%d\n", s.DraftSteps, s.DraftChecked, s.DraftHeld, s.Generated)
			if got := log.String(); (i == 0 || wait > 0) != strings.HasSuffix(got, want) || s.DraftHeld == 0 || s.DraftHeld >= s.DraftChecked {
				t.Errorf("after text %d the log is\n%swant\n%s", i, got, want)
			}
		}
		m.Close()
	})
}

// TestRepetitionNeedsNoDraftModel: what a grammar or the text itself says surely costs no step.
func TestRepetitionNeedsNoDraftModel(t *testing.T) {
	p := paired(t, periodic(100, 12))
	p.first.favourite, p.first.sure = periodic(100, 12), 40
	_, stats, _ := p.run(t, true, []chat.Job{{Prompt: testPrompt(1, 20, 5), MaxTokens: 300}})
	if stats.DraftSteps > 60 || stats.Steps > 80 || stats.DraftChecked > 60 || stats.DraftHeld > stats.Held/2 {
		t.Errorf("%d steps and %d of the second model for a text that repeats itself", stats.Steps, stats.DraftSteps)
	}
}
