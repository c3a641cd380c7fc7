//go:build llamacpp && cgo

package llamacpp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/grammar"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/engine/local/llamacpp/matrix"
	"github.com/diglot/diglot/engine/local/memory"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var questions = []string{
	"What is the capital of France?",
	"Name three colours.",
	"Write a short story about a fox and a river.",
	"Explain in two sentences why the sky is blue.",
	"List the numbers from 1 to 20.",
	"What is a compiler?",
	"Write a function in Go that adds two numbers.",
	"Who wrote Hamlet?",
}

// measured makes the job report the two best probabilities of each step.
func measured(job chat.Job) chat.Job {
	two := 2
	job.Logprobs = &two
	return job
}

// same fails the test where two replies differ, if only in the last bit of a
// log-probability: what a sequence gets does not depend on the sequences beside
// it, nor on which of its cells are shared.
func same(t *testing.T, name string, want, got reply) {
	t.Helper()
	if diff := cmp.Diff(want.pieces, got.pieces, cmpopts.IgnoreFields(chat.Piece{}, "Cached")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// decodeAll runs the jobs at once.
func decodeAll(t *testing.T, m *decode.Model, jobs []chat.Job) []reply {
	t.Helper()
	replies := make([]reply, len(jobs))
	errs := make([]error, len(jobs))
	var wg sync.WaitGroup
	for i, job := range jobs {
		wg.Go(func() { replies[i], errs[i] = answerOf(t.Context(), m, job) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("job %d: %v", i, err)
		}
	}
	return replies
}

// TestSameTextAloneAndTogether: sharing and batching do not change texts.
func TestSameTextAloneAndTogether(t *testing.T) {
	m := openModel(t, Options{})
	var jobs []chat.Job
	for _, q := range questions {
		jobs = append(jobs, measured(greedy(tokenize(t, m, ask(q)), 32)))
	}
	alone := make([]reply, len(jobs))
	for i, job := range jobs {
		fresh := openModel(t, Options{Context: 1024, Parallel: 1})
		got := decodeAll(t, fresh, []chat.Job{job})
		alone[i] = got[0]
		if again := decodeAll(t, fresh, []chat.Job{job}); again[0].end.Cached != len(job.Prompt)-1 {
			t.Errorf("%q again: %d tokens of the prompt cached, want %d", questions[i], again[0].end.Cached, len(job.Prompt)-1)
		} else {
			same(t, questions[i]+" (prompt shared)", alone[i], again[0])
		}
		fresh.Close()
	}
	for i, got := range decodeAll(t, m, jobs) {
		same(t, questions[i]+" (together)", alone[i], got)
	}
}

// TestPromptInOneStep: our kernels read a prompt with its last token; llama.cpp's compute
// that one in another way beside others, so it comes alone.
func TestPromptInOneStep(t *testing.T) {
	ours := 1
	if matrix.Instructions() == "" {
		ours = 2
	}
	for _, tt := range []struct {
		name    string
		options Options
		steps   int
	}{
		{"own kernels", Options{}, ours},
		{"llama.cpp's kernels", Options{Kernels: KernelsGGML}, 2},
		{"a LoRA", Options{Adapters: []string{randomAdapter(t, modelFile(t, smallest), 0.1, "blk.0.attn_q.weight")}}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.options.Context, tt.options.Parallel = 1024, 1
			m := openModel(t, tt.options)
			decodeAll(t, m, []chat.Job{greedy(tokenize(t, m, ask(questions[0])), 1)}) // what computes a token is known then
			before := m.Stats().Steps
			decodeAll(t, m, []chat.Job{greedy(tokenize(t, m, "Once upon a time there was"), 1)})
			if got := m.Stats().Steps - before; got != tt.steps {
				t.Errorf("%d steps, want %d", got, tt.steps)
			}
		})
	}
}

// longPrefix is a system prompt of about 600 tokens.
func longPrefix() string {
	var b strings.Builder
	b.WriteString("<|im_start|>system\n")
	for i := range 30 {
		fmt.Fprintf(&b, "Rule %d: an engineer writes clear code, and a reader thanks her for it.\n", i)
	}
	b.WriteString("<|im_end|>\n")
	return b.String()
}

func TestEightClientsReadOnePrefix(t *testing.T) {
	m := openModel(t, Options{})
	var jobs []chat.Job
	for _, q := range questions {
		jobs = append(jobs, greedy(tokenize(t, m, longPrefix()+ask(q)), 8))
	}
	prefix := len(jobs[0].Prompt)
	total := 0
	for _, job := range jobs {
		prefix = min(prefix, len(shared(jobs[0].Prompt, job.Prompt)))
		total += len(job.Prompt)
	}
	cached := 0
	for _, r := range decodeAll(t, m, jobs) {
		cached += r.end.Cached
	}
	s := m.Stats()
	if want := total - 7*prefix; s.Prefilled > want {
		t.Errorf("read %d tokens of prompts, want at most %d: the %d of the prefix once", s.Prefilled, want, prefix)
	}
	if s.Prefilled+cached != total {
		t.Errorf("%d read and %d cached are not the %d of the prompts", s.Prefilled, cached, total)
	}
}

// TestClientLeaves: neither a client that stops reading nor one whose
// context ends is computed for any longer, and both free their place.
func TestClientLeaves(t *testing.T) {
	m := openModel(t, Options{Parallel: 2})
	job := greedy(tokenize(t, m, ask(questions[2])), 500)
	for _, tt := range []struct {
		name  string
		leave func(cancel func()) (stop bool)
	}{
		{"stops reading", func(func()) bool { return true }},
		{"context ends", func(cancel func()) bool { cancel(); return false }},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		before := m.Stats()
		pieces := 0
		for _, err := range m.Decode(ctx, job) {
			if err != nil {
				if e := engine.AsError(err); e.Code != engine.CodeCanceled {
					t.Errorf("%s: error %v", tt.name, err)
				}
				break
			}
			if pieces++; pieces == 3 && tt.leave(cancel) {
				break
			}
		}
		cancel()
		// Another request is a fence: it is admitted after the drop.
		if _, err := answerOf(t.Context(), m, greedy(job.Prompt, 1)); err != nil {
			t.Fatal(err)
		}
		after := m.Stats()
		if made := after.Generated - before.Generated; made > 100 {
			t.Errorf("%s: %d tokens were generated for a client that took 3", tt.name, made)
		}
		if after.Running > 1 {
			t.Errorf("%s: %d sequences still run", tt.name, after.Running)
		}
	}
}

// watched calls before ahead of each decode, and tells of the first interruption.
type watched struct {
	decode.Backend
	before      func(decodes int)
	count       int
	interrupted chan struct{}
	once        sync.Once
}

func (w *watched) Interrupt() {
	w.Backend.Interrupt()
	w.once.Do(func() { close(w.interrupted) })
}

func (w *watched) Decode(batch []decode.Entry, alike bool) decode.Outcome {
	w.count++
	w.before(w.count)
	return w.Backend.Decode(batch, alike)
}

// TestLongPromptIsInterrupted: a client that leaves while its prompt is
// read does not keep the others waiting for the rest of the batch.
func TestLongPromptIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := configured(t, Options{Path: modelFile(t, smallest)})
	w := &watched{Backend: c.Text.Backend, interrupted: make(chan struct{})}
	w.before = func(decodes int) {
		if decodes == 2 {
			cancel()
			<-w.interrupted
		}
	}
	c.Text.Backend = w
	m := decode.New(c)
	t.Cleanup(func() { m.Close() })
	_, err := answerOf(ctx, m, greedy(tokenize(t, m, longPrefix()), 5))
	if e := engine.AsError(err); e == nil || e.Code != engine.CodeCanceled {
		t.Errorf("the client got %v", err)
	}
	again, err := answerOf(t.Context(), m, greedy(tokenize(t, m, longPrefix()), 1))
	if err != nil {
		t.Fatal(err)
	}
	if again.end.Cached != decode.PrefillChunk {
		t.Errorf("%d tokens were kept, want those of the first batch, %d: the second was interrupted", again.end.Cached, decode.PrefillChunk)
	}
}

func TestSeedsRepeat(t *testing.T) {
	m := openModel(t, Options{})
	job := greedy(tokenize(t, m, ask(questions[2])), 20)
	job.Sampling = engine.Sampling{Temperature: new(1.0), TopK: new(40), TopP: new(0.95), MinP: new(0.05)}
	texts := map[string]bool{}
	for seed := range uint64(4) {
		job.Sampling.Seed = new(int64(seed))
		first := decodeAll(t, m, []chat.Job{job})[0]
		if again := decodeAll(t, m, []chat.Job{job})[0]; again.text != first.text {
			t.Errorf("seed %d: %q, then %q", seed, first.text, again.text)
		}
		texts[first.text] = true
	}
	if len(texts) < 3 {
		t.Errorf("4 seeds gave %d texts", len(texts))
	}
}

// TestChoicesRepeat: the choices of one request go through the same batches
// each time, whether or not their prompt is in the cache.
func TestChoicesRepeat(t *testing.T) {
	m := openModel(t, Options{})
	for seed, question := range questions[:4] {
		req := &engine.Request{}
		jobs := make([]chat.Job, 4)
		for i := range jobs {
			job := greedy(tokenize(t, m, ask(question)), 16)
			job.Sampling = engine.Sampling{Temperature: new(1.5), TopP: new(1.0), Seed: new(int64(seed))}
			job.Request, job.Choice, job.Choices = req, i, len(jobs)
			jobs[i] = job
		}
		first, again := decodeAll(t, m, jobs), decodeAll(t, m, jobs)
		for i := range jobs {
			if first[i].text != again[i].text {
				t.Errorf("%s choice %d: %q, then %q", question, i, first[i].text, again[i].text)
			}
		}
	}
}

const personSchema = `{
	"type": "object",
	"properties": {
		"name": {"type": "string", "maxLength": 12},
		"age": {"type": "integer", "minimum": 0, "maximum": 150},
		"likes": {"type": "array", "items": {"enum": ["tea", "coffee", "water"]}, "maxItems": 3}
	},
	"required": ["name", "age", "likes"],
	"additionalProperties": false
}`

func TestConstrainedTextIsValid(t *testing.T) {
	m := openModel(t, Options{})
	node, _, err := grammar.Schema(t.Context(), json.RawMessage(personSchema))
	if err != nil {
		t.Fatal(err)
	}
	g, err := grammar.Compile(t.Context(), node)
	if err != nil {
		t.Fatal(err)
	}
	var jobs []chat.Job
	for seed := range uint64(12) {
		job := greedy(tokenize(t, m, ask("Tell me about a person, as JSON.")), 200)
		job.Constraint = g.Matcher()
		job.Sampling = engine.Sampling{Temperature: new(float64(seed) / 4), TopK: new(40), TopP: new(1.0), Seed: new(int64(seed))}
		jobs = append(jobs, job)
	}
	for i, r := range decodeAll(t, m, jobs) {
		var person struct {
			Name  *string
			Age   *int
			Likes []string
		}
		if err := json.Unmarshal([]byte(r.text), &person); err != nil || person.Name == nil || person.Age == nil || person.Likes == nil {
			t.Errorf("seed %d: %q is not a person: %v", i, r.text, err)
		}
		if r.end.End != chat.EndOfTurn {
			t.Errorf("seed %d: end %q", i, r.end.End)
		}
	}
}

// TestTinyPool: four texts that together need twice the cells that there
// are. Each comes out as it does alone.
func TestTinyPool(t *testing.T) {
	options := Options{Path: modelFile(t, smallest), Parallel: 4}.withDefaults()
	register()
	cancel := newFlag()
	defer cancel.free()
	w := loadWeights(options.Path, mapped, kernels{ours: true}, cancel)
	if w == nil {
		t.Fatal("the model cannot be loaded")
	}
	file, err := gguf.Open(options.Path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := configOf(w, file, options, 256)
	if err != nil {
		t.Fatal(err)
	}
	if err := generate(&c, w, options, &logSink{log: options.Log}, memory.Plan{Context: 256, Cells: 256}); err != nil {
		t.Fatal(err)
	}
	m := decode.New(c)
	defer m.Close()
	var jobs []chat.Job
	for _, q := range questions[2:6] {
		jobs = append(jobs, measured(greedy(tokenize(t, m, ask(q)), 120)))
	}
	var alone []reply
	for _, job := range jobs {
		alone = append(alone, decodeAll(t, m, []chat.Job{job})...)
	}
	for i, got := range decodeAll(t, m, jobs) {
		same(t, questions[2+i], alone[i], got)
	}
	if s := m.Stats(); s.Preempted == 0 {
		t.Errorf("nothing was preempted: %+v", s)
	}
}

func TestTokenize(t *testing.T) {
	m := openModel(t, Options{})
	end := m.Vocabulary().Control["<|im_end|>"]
	for _, tt := range []struct {
		name  string
		spans []prompt.Span
		ends  int // how many tokens are <|im_end|>
	}{
		{"template", []prompt.Span{{Text: "user\nHi"}, {Text: "<|im_end|>", Special: true}, {Text: "\n"}}, 1},
		{"client's text", []prompt.Span{{Text: "user\n<|im_end|>"}, {Text: "<|im_end|>", Special: true}, {Text: "<|im_end|>"}}, 1},
		{"cut in the middle", []prompt.Span{{Text: "<|im_"}, {Text: "end|>"}}, 0},
		{"special, and no such token", []prompt.Span{{Text: "<|nothing|>", Special: true}}, 0},
		{"any bytes", []prompt.Span{{Text: "h\u00e9llo \U0001f98a \x00 \xff"}}, 0},
	} {
		tokens, err := m.Tokenize(t.Context(), prompt.Prompt{Spans: tt.spans})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		var text strings.Builder
		ends := 0
		for _, token := range tokens {
			text.Write(m.Vocabulary().Bytes(token))
			if token == end {
				ends++
			}
		}
		if ends != tt.ends {
			t.Errorf("%s: %d end tokens, want %d", tt.name, ends, tt.ends)
		}
		want := strings.ToValidUTF8((prompt.Prompt{Spans: tt.spans}).String(), "\ufffd")
		if got := text.String(); got != want {
			t.Errorf("%s: the tokens spell %q, want %q", tt.name, got, want)
		}
	}
}

func TestInfo(t *testing.T) {
	got := openModel(t, Options{}).Info()
	if !strings.Contains(got.Template, "im_start") || got.Changed.IsZero() {
		t.Errorf("template %q, changed %v", got.Template, got.Changed)
	}
	if !slices.Contains(got.Control, "<|im_end|>") {
		t.Errorf("the control tokens are %q", got.Control)
	}
	got.Template, got.Changed, got.Control = "", got.Changed.UTC(), nil
	want := chat.Info{
		Name: got.Name, Owner: got.Owner, Changed: got.Changed, BOS: "<|im_start|>", EOS: "<|im_end|>", Context: 8192,
		Vectors: chat.Vectors{Size: 576, Input: 2048, Vocabulary: 49152},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestBadJobs(t *testing.T) {
	m := openModel(t, Options{Context: 512})
	for _, tt := range []struct {
		name string
		job  chat.Job
		code engine.Code
	}{
		{"no prompt", greedy(nil, 1), engine.CodeInvalidArgument},
		{"nothing to generate", greedy([]int32{1}, 0), engine.CodeInvalidArgument},
		{"as long as the context", greedy(make([]int32, 512), 1), engine.CodeContextLength},
		{"bias of no token", chat.Job{Prompt: []int32{1}, MaxTokens: 1, Sampling: engine.Sampling{LogitBias: map[int]float64{1 << 30: 1}}}, engine.CodeInvalidArgument},
	} {
		_, err := answerOf(t.Context(), m, tt.job)
		if e := engine.AsError(err); e == nil || e.Code != tt.code {
			t.Errorf("%s: error %v, want %s", tt.name, err, tt.code)
		}
	}
}

// TestBrokenFiles: what is not a model is an error, never a crash. The
// lengths cut a real file in its header, metadata, list of tensors and
// data.
func TestBrokenFiles(t *testing.T) {
	whole := modelFile(t, smallest)
	stat, err := os.Stat(whole)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	open := func(name, path string) {
		t.Helper()
		m, err := Open(t.Context(), Options{Path: path})
		if err == nil {
			m.Close()
			t.Errorf("%s: no error", name)
			return
		}
		t.Logf("%s: %v", name, err)
	}
	open("missing", filepath.Join(folder, "none.gguf"))
	open("folder", folder)
	write := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	open("empty", write("empty.gguf", nil))
	open("text", write("text.gguf", []byte("hello, I am not a model at all")))
	for _, n := range []int64{1, 20, 1000, 100_000, 1_000_000, 1_700_000, 1_760_000, stat.Size() / 2, stat.Size() - 1} {
		path := filepath.Join(folder, "cut.gguf")
		copyStart(t, whole, path, n)
		open(fmt.Sprintf("cut to %d", n), path)
	}
	// Heads that are whole and describe no model: llama.cpp refuses them.
	for _, tt := range []struct {
		name string
		file []byte
	}{
		{"no architecture", modelBytes(t, "", nil)},
		{"unknown architecture", modelBytes(t, "none", nil)},
		{"architecture alone", modelBytes(t, "llama", nil)},
		{"some of a model", modelBytes(t, "llama", map[string]any{"llama.block_count": uint32(4), "tokenizer.ggml.tokens": []string{"a", "bc"}})},
	} {
		open(tt.name, write("odd.gguf", tt.file))
	}
}

func copyStart(t *testing.T, from, to string, n int64) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.CopyN(out, in, n); err != nil {
		t.Fatal(err)
	}
}

func TestLoadingIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m, err := Open(ctx, Options{Path: modelFile(t, smallest)}); err == nil {
		m.Close()
		t.Error("the model was loaded")
	}
}

// shared is the longest common prefix.
func shared(a, b []int32) []int32 {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
