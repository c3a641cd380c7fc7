package decode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// counter is a backend whose model always predicts the last token plus one. A
// batch that does not continue its sequences, or exceeds the KV cells, fails the
// test.
type counter struct {
	t         *testing.T
	vocab     *Vocabulary
	texts     map[int][]int32
	positions map[int][]int32
	next      map[int]int32  // position
	cells     map[int][]*int // a shared cell is the same pointer
	capacity  int
	sharing   bool

	independent bool // see Backend

	last   []Entry
	read   int            // tokens
	turn   func(step int) // called in each decode
	steps  int
	images *imageLog // nil: it sees no images

	mu          sync.Mutex
	interrupted bool
	asked       chan struct{} // to be interrupted
}

func newCounter(t *testing.T, capacity int) *counter {
	return &counter{
		t:         t,
		vocab:     letters(),
		texts:     map[int][]int32{},
		positions: map[int][]int32{},
		next:      map[int]int32{},
		cells:     map[int][]*int{},
		capacity:  capacity,
		sharing:   true, independent: true,
		asked: make(chan struct{}, 1),
	}
}

// letters is a vocabulary of 1000 tokens; 0 ends the turn.
func letters() *Vocabulary {
	v := &Vocabulary{BOS: -1, EOS: 0}
	v.Add([]byte("<end>"), KindControl|KindEndOfTurn)
	for i := 1; i < 1000; i++ {
		v.Add([]byte{'a' + byte(i%26)}, 0)
	}
	return v
}

func (c *counter) Decode(batch []Entry, _ bool) Outcome {
	c.steps++
	if c.turn != nil {
		c.turn(c.steps)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.interrupted {
		return Interrupted
	}
	if used := c.used(); used+len(batch) > c.capacity {
		c.t.Errorf("step %d: %d cells in use, %d more wanted, of %d", c.steps, used, len(batch), c.capacity)
		return CacheFull
	}
	for _, e := range batch {
		id := int(e.Sequence)
		if e.Position != c.next[id] || e.Token < 0 {
			c.t.Errorf("step %d: token %d at position %d of sequence %d, which has %d tokens and goes on at %d",
				c.steps, e.Token, e.Position, id, len(c.texts[id]), c.next[id])
			return Failed
		}
		c.add(id, e.Token, e.Position)
	}
	c.read += len(batch)
	c.last = slices.Clone(batch)
	return Computed
}

func (c *counter) add(id int, token, position int32) {
	c.texts[id] = append(c.texts[id], token)
	c.positions[id] = append(c.positions[id], position)
	c.cells[id] = append(c.cells[id], new(int))
	c.next[id] = position + 1
}

func (c *counter) used() int {
	distinct := map[*int]bool{}
	for _, held := range c.cells {
		for _, cell := range held {
			distinct[cell] = true
		}
	}
	return len(distinct)
}

func (c *counter) Logits(row int) []float32 {
	e := c.last[row]
	if !e.Logits {
		c.t.Errorf("logits of row %d, which did not want them", row)
	}
	l := make([]float32, c.vocab.Size())
	l[(int(e.Token)+1)%len(l)] = 1
	return l
}

func (c *counter) CopySequence(src, dst, n int) {
	if len(c.texts[dst]) > 0 || n > int(c.next[src]) {
		c.t.Errorf("copy of %d positions of %d, which has %d, to %d, which has %d tokens", n, src, c.next[src], dst, len(c.texts[dst]))
	}
	count := 0 // of tokens there; positions never fall
	for _, p := range c.positions[src] {
		if int(p) < n {
			count++
		}
	}
	c.texts[dst] = slices.Clone(c.texts[src][:count])
	c.positions[dst] = slices.Clone(c.positions[src][:count])
	c.cells[dst] = slices.Clone(c.cells[src][:count])
	c.next[dst] = int32(n)
}

func (c *counter) RemoveSequence(id int) {
	delete(c.texts, id)
	delete(c.positions, id)
	delete(c.cells, id)
	delete(c.next, id)
}

func (c *counter) Truncate(id, n int) {
	if n < 1 || n >= int(c.next[id]) {
		c.t.Errorf("sequence %d, which goes on at %d, is truncated to %d", id, c.next[id], n)
	}
	keep := len(c.texts[id])
	for keep > 0 && int(c.positions[id][keep-1]) >= n {
		keep--
	}
	c.texts[id], c.positions[id], c.cells[id] = c.texts[id][:keep], c.positions[id][:keep], c.cells[id][:keep]
	c.next[id] = int32(n)
}

func (c *counter) SharesPrefixes() bool { return c.sharing }
func (c *counter) Independent() bool    { return c.independent }
func (c *counter) HasStart(int) bool    { return true }

func (c *counter) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interrupted = true
	select {
	case c.asked <- struct{}{}:
	default:
	}
}

func (c *counter) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interrupted = false
}

// eachWay tests backends whose tokens are independent of each other, and those whose are
// not.
func eachWay(t *testing.T, test func(t *testing.T, independent bool)) {
	for _, independent := range []bool{true, false} {
		t.Run(fmt.Sprintf("independent %t", independent), func(t *testing.T) { test(t, independent) })
	}
}

// countingModel is a Model over c, running.
func countingModel(t *testing.T, c *counter, parallel, context int) *Model {
	m := New(Config{
		Info:       chat.Info{Context: context},
		Vocabulary: c.vocab,
		Text:       &Text{Backend: c, Parallel: parallel, Cells: c.capacity},
		Free:       func() {},
		Log:        slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() { m.Close() })
	return m
}

// testPrompt is n tokens, the same for the same seed, and then a last one.
func testPrompt(seed, n int, last int32) []int32 {
	tokens := make([]int32, n, n+1)
	for i := range tokens {
		tokens[i] = int32(1 + (seed*31+i*7)%900)
	}
	return append(tokens, last)
}

// counted is what counter's model says after token: n letters.
func counted(token int32, n int) string {
	var b strings.Builder
	for i := range int32(n) {
		b.WriteByte('a' + byte((token+1+i)%26))
	}
	return b.String()
}

type result struct {
	text string
	end  chat.Piece
	err  error
}

func collect(ctx context.Context, m *Model, job chat.Job) result {
	var r result
	for p, err := range m.Decode(ctx, job) {
		r.text += string(p.Bytes)
		if r.err = err; err == nil && p.End != chat.EndNone {
			r.end = p
		}
	}
	return r
}

// together starts all jobs at once and waits for them.
func together(m *Model, jobs ...chat.Job) []result {
	results := make([]result, len(jobs))
	var wg sync.WaitGroup
	for i, job := range jobs {
		wg.Go(func() { results[i] = collect(context.Background(), m, job) })
	}
	wg.Wait()
	return results
}

func (r result) check(t *testing.T, name, text string, end chat.End) {
	t.Helper()
	if r.err != nil || r.text != text || r.end.End != end {
		t.Errorf("%s: got %q, end %q, error %v; want %q, end %q", name, r.text, r.end.End, r.err, text, end)
	}
}

func TestManyAtOnce(t *testing.T) { eachWay(t, testManyAtOnce) }

func testManyAtOnce(t *testing.T, independent bool) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		c.independent = independent
		m := countingModel(t, c, 4, 2048)
		var jobs []chat.Job
		for i := range 12 {
			jobs = append(jobs, chat.Job{Prompt: testPrompt(i, 50*i+1, int32(10+i)), MaxTokens: 20 + i})
		}
		for i, r := range together(m, jobs...) {
			r.check(t, fmt.Sprintf("job %d", i), counted(int32(10+i), 20+i), chat.EndLength)
		}
		m.Close()
	})
}

// TestLastPromptToken: it is decoded with the rest of the prompt, unless other tokens
// beside it would change its logits.
func TestLastPromptToken(t *testing.T) {
	for _, tt := range []struct {
		name        string
		independent bool
		prompt      int // tokens
		steps       int
	}{
		{"one chunk", true, PrefillChunk, 1},
		{"one chunk, alone", false, PrefillChunk, 2},
		{"a token more", true, PrefillChunk + 1, 2},
		{"a token more, alone", false, PrefillChunk + 1, 2},
		{"two tokens", true, 2, 1},
		{"two tokens, alone", false, 2, 2},
		{"one token", true, 1, 1},
		{"one token, alone", false, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCounter(t, 1024)
				c.independent = tt.independent
				m := countingModel(t, c, 1, 512)
				got := collect(t.Context(), m, chat.Job{Prompt: testPrompt(1, tt.prompt-1, 5), MaxTokens: 1})
				got.check(t, tt.name, counted(5, 1), chat.EndLength)
				m.Close()
				if c.steps != tt.steps {
					t.Errorf("%d steps, want %d", c.steps, tt.steps)
				}
			})
		})
	}
}

func TestEndOfTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := countingModel(t, newCounter(t, 1024), 2, 512)
		// 995 is followed by 996 to 999, then 0, which ends the turn.
		r := collect(t.Context(), m, chat.Job{Prompt: []int32{995}, MaxTokens: 100})
		r.check(t, "end", counted(995, 4), chat.EndOfTurn)
		m.Close()
	})
}

// TestTooAmbiguous: a constraint that is too ambiguous fails its own request
// alone.
func TestTooAmbiguous(t *testing.T) {
	one, two := grammarOf(t, "^[a-z]$"), grammarOf(t, "^[a-z]{2}$")
	g, err := grammar.Compile(t.Context(), grammar.Repeat(grammar.Repeat(grammar.Choice(one, two), 0, 999), 0, 999))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 1024)
		c.vocab = &Vocabulary{BOS: -1, EOS: 0}
		c.vocab.Add([]byte("<end>"), KindControl|KindEndOfTurn)
		for i := 1; i < 1000; i++ { // long words have the most ways
			c.vocab.Add(bytes.Repeat([]byte{'a' + byte(i%26)}, 10_000), 0)
		}
		m := countingModel(t, c, 2, 512)
		req := &engine.Request{Tools: []engine.Tool{{Name: "t"}}}
		results := together(m,
			chat.Job{Prompt: []int32{5}, MaxTokens: 50, Constraint: g.Matcher(), Request: req},
			chat.Job{Prompt: []int32{500}, MaxTokens: 50})
		e := engine.AsError(results[0].err)
		if e == nil || e.Code != engine.CodeInvalidArgument || e.Place.Field != engine.FieldTools || !errors.Is(e, grammar.ErrTooMuchWork) {
			t.Errorf("got %v, end %q, want %s", e, results[0].end.End, engine.CodeInvalidArgument)
		}
		if r := results[1]; r.err != nil || len(r.text) != 50*10_000 {
			t.Errorf("the other request got %d letters, error %v", len(r.text), r.err)
		}
		m.Close()
	})
}

func grammarOf(t *testing.T, pattern string) grammar.Node {
	t.Helper()
	n, err := grammar.Pattern(t.Context(), pattern)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestContextIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := countingModel(t, newCounter(t, 256), 2, 40)
		r := collect(t.Context(), m, chat.Job{Prompt: testPrompt(1, 29, 5), MaxTokens: 100})
		r.check(t, "full", counted(5, 10), chat.EndLength)
		r = collect(t.Context(), m, chat.Job{Prompt: testPrompt(1, 39, 5), MaxTokens: 100})
		if e := engine.AsError(r.err); e == nil || e.Code != engine.CodeContextLength {
			t.Errorf("a prompt as long as the context: error %v", r.err)
		}
		m.Close()
	})
}

func TestSharedPrefixIsReadOnce(t *testing.T) { eachWay(t, testSharedPrefixIsReadOnce) }

func testSharedPrefixIsReadOnce(t *testing.T, independent bool) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		c.independent = independent
		m := countingModel(t, c, 8, 2048)
		var jobs []chat.Job
		for i := range 8 {
			jobs = append(jobs, chat.Job{Prompt: testPrompt(3, 1300, int32(100+i)), MaxTokens: 5})
		}
		cached := 0
		for i, r := range together(m, jobs...) {
			r.check(t, "client", counted(int32(100+i), 5), chat.EndLength)
			cached += r.end.Cached
		}
		synctest.Wait()
		if want := 1300 + 8; m.Stats().Prefilled != want {
			t.Errorf("read %d tokens of prompts, want %d", m.Stats().Prefilled, want)
		}
		if want := 7 * 1300; cached != want || m.Stats().Reused != want {
			t.Errorf("the clients were told of %d cached tokens, the model counts %d, want %d", cached, m.Stats().Reused, want)
		}
		m.Close()
	})
}

func TestPrefixOfAnEndedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := countingModel(t, newCounter(t, 4096), 2, 2048)
		first := chat.Job{Prompt: testPrompt(1, 100, 50), MaxTokens: 10}
		collect(t.Context(), m, first)

		// The next turn begins with the first one, whose last sampled token
		// was never decoded.
		next := chat.Job{Prompt: slices.Concat(first.Prompt, []int32{51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 7}), MaxTokens: 3}
		r := collect(t.Context(), m, next)
		r.check(t, "next turn", counted(7, 3), chat.EndLength)
		if want := 101 + 9; r.end.Cached != want {
			t.Errorf("next turn: %d cached, want %d", r.end.Cached, want)
		}
		for p := range m.Decode(t.Context(), next) {
			if want := 111; p.Cached != want {
				t.Errorf("a piece says %d cached, want %d: a request may end at any piece", p.Cached, want)
			}
		}
		again := collect(t.Context(), m, first)
		if want := 100; again.end.Cached != want {
			t.Errorf("the same again: %d cached, want %d: all but the last token", again.end.Cached, want)
		}
		m.Close()
	})
}

// TestOneCachedAnswerPerPrompt: only the last answer to a prompt stays cached.
func TestOneCachedAnswerPerPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := countingModel(t, newCounter(t, 4096), 4, 2048)
		job := chat.Job{Prompt: testPrompt(1, 100, 50), MaxTokens: 10}
		together(m, job, job, job, chat.Job{Prompt: testPrompt(1, 50, 7), MaxTokens: 10})
		synctest.Wait()
		if s := m.Stats(); s.CachedPrefixes != 2 || s.FreeCells != 4096-(101+9)-(1+9) {
			t.Errorf("%+v, want 2 cached prefixes that share 50 tokens", s)
		}
		m.Close()
	})
}

// TestCancel: a canceled request frees its slot before the next step.
func TestCancel(t *testing.T) {
	for _, tt := range []struct {
		name  string
		alone bool
	}{
		{"alone", true},
		{"beside another", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCounter(t, 4096)
				m := countingModel(t, c, 2, 2048)
				ctx, cancel := context.WithCancel(t.Context())
				var at int
				c.turn = func(step int) {
					if step == 5 {
						at = step
						cancel()
						if tt.alone {
							<-c.asked
						}
					}
					if at > 0 && step > at {
						for _, s := range m.loop.running {
							if s.canceled() {
								t.Errorf("step %d still computes for the client that left in step %d", step, at)
							}
						}
					}
				}
				var other result
				var wg sync.WaitGroup
				if !tt.alone {
					wg.Go(func() { other = collect(t.Context(), m, chat.Job{Prompt: testPrompt(1, 9, 5), MaxTokens: 30}) })
				}
				r := collect(ctx, m, chat.Job{Prompt: testPrompt(2, 9, 400), MaxTokens: 1000})
				wg.Wait()
				if e := engine.AsError(r.err); e == nil || e.Code != engine.CodeCanceled {
					t.Errorf("the client got %v", r.err)
				}
				if !tt.alone {
					other.check(t, "the other", counted(5, 30), chat.EndLength)
				}
				synctest.Wait()
				if s := m.Stats(); s.Running != 0 || s.CachedPrefixes == 0 {
					t.Errorf("afterwards %+v, want none running and one cached prefix", s)
				}
				m.Close()
			})
		})
	}
}

func TestPreemption(t *testing.T) { eachWay(t, testPreemption) }

func testPreemption(t *testing.T, independent bool) {
	synctest.Test(t, func(t *testing.T) {
		// Each grows to 300 tokens; all three need 900 cells of 512.
		c := newCounter(t, 512)
		c.independent = independent
		m := countingModel(t, c, 3, 400)
		var jobs []chat.Job
		for i := range 3 {
			jobs = append(jobs, chat.Job{Prompt: testPrompt(i*13, 99, int32(200*i+1)), MaxTokens: 200})
		}
		// The first must not be done before the others have come.
		gate := make(chan struct{})
		c.turn = func(step int) {
			if step == 1 {
				<-gate
			}
		}
		go func() {
			synctest.Wait()
			close(gate)
		}()
		for i, r := range together(m, jobs...) {
			r.check(t, "sequence", counted(int32(200*i+1), 200), chat.EndLength)
		}
		if s := m.Stats(); s.Preempted == 0 {
			t.Errorf("nothing was preempted: %+v", s)
		}
		m.Close()
	})
}

// TestPromptsOutgrowTheCache: prompts that do not fit the pool together are
// prefilled one after the other, the oldest first.
func TestPromptsOutgrowTheCache(t *testing.T) { eachWay(t, testPromptsOutgrowTheCache) }

func testPromptsOutgrowTheCache(t *testing.T, independent bool) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 1024)
		c.independent = independent
		m := countingModel(t, c, 4, 1000)
		var jobs []chat.Job
		for i := range 4 {
			jobs = append(jobs, chat.Job{Prompt: testPrompt(i*17, 900, int32(200*i+1)), MaxTokens: 20})
		}
		for i, r := range together(m, jobs...) {
			r.check(t, "sequence", counted(int32(200*i+1), 20), chat.EndLength)
		}
		m.Close()
	})
}

// TestRecurrent: a model that cannot share prefixes serves concurrent requests.
func TestRecurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		c.sharing = false
		m := countingModel(t, c, 2, 2048)
		var jobs []chat.Job
		for i := range 6 {
			jobs = append(jobs, chat.Job{Prompt: testPrompt(1, 60, int32(100*i+1)), MaxTokens: 10})
		}
		for i, r := range together(m, jobs...) {
			r.check(t, "sequence", counted(int32(100*i+1), 10), chat.EndLength)
			if r.end.Cached != 0 {
				t.Errorf("sequence %d: %d cached", i, r.end.Cached)
			}
		}
		m.Close()
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		m := countingModel(t, c, 2, 2048)
		c.turn = func(step int) {
			if step == 3 {
				go m.Close()
				<-c.asked
			}
		}
		for i, r := range together(m, greedyCount(1), greedyCount(2), greedyCount(3)) {
			if e := engine.AsError(r.err); e == nil || e.Code != engine.CodeOverloaded {
				t.Errorf("request %d: %v", i, r.err)
			}
		}
		if r := collect(t.Context(), m, greedyCount(1)); !errors.As(r.err, new(*engine.Error)) {
			t.Errorf("after Close: %v", r.err)
		}
	})
}

func greedyCount(i int) chat.Job {
	return chat.Job{Prompt: testPrompt(i, 20, 1), MaxTokens: 900}
}
