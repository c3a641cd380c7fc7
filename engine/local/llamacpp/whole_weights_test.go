//go:build llamacpp && cgo

package llamacpp

import (
	"context"
	"hash/maphash"
	"iter"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/decode"
)

// wholeContext is the context of the models below, in tokens: long enough for
// what clients send in tests, and short enough to be read in no time.
const wholeContext = 2048

// dice stands for the weights of a model, and for nothing else: what it finds
// likely follows from the last tokens alone, so that the same text is always
// continued in the same way.
type dice struct {
	vocab *decode.Vocabulary
	lucky []int32 // tokens that it likes: of markup and JSON, and ends
	texts map[int][]int32
	last  []decode.Entry
	buf   []float32

	interrupted atomic.Bool
}

// diceTokens are what structured answers are made of. Where the vocabulary has
// no such token, its first one stands for it.
var diceTokens = []string{
	"{", "}", "[", "]", ":", ",", `"`, `":`, `",`, `"}`, `{"`, "}}", "true", "null", "0", "1", "-", "e", ".", "\\", "\n", " ", "<", ">", "/",
	"name", "arguments", "parameters", "<tool_call>", "</tool_call>", "<think>", "</think>", "```", "é", "�",
}

func newDice(w *weights, vocab *decode.Vocabulary) *dice {
	d := &dice{vocab: vocab, texts: map[int][]int32{}, buf: make([]float32, vocab.Size())}
	for _, text := range diceTokens {
		tokens, err := w.tokenize(text, false, true)
		if err == nil && len(tokens) > 0 {
			d.lucky = append(d.lucky, tokens[len(tokens)-1])
		}
	}
	for token := range int32(vocab.Size()) {
		if vocab.Is(token, decode.KindEndOfTurn) {
			d.lucky = append(d.lucky, token, token)
		}
	}
	return d
}

func (d *dice) Decode(batch []decode.Entry, _ bool) decode.Outcome {
	if d.interrupted.Load() {
		return decode.Interrupted
	}
	for _, e := range batch {
		id := int(e.Sequence)
		d.texts[id] = append(d.texts[id][:e.Position], e.Token)
	}
	d.last = slices.Clone(batch)
	return decode.Computed
}

// Logits are high for 24 tokens, half of them lucky ones.
func (d *dice) Logits(row int) []float32 {
	e := d.last[row]
	text := d.texts[int(e.Sequence)][:e.Position+1]
	state := uint64(14695981039346656037)
	for _, token := range text[max(0, len(text)-4):] {
		state = mix(state ^ uint64(uint32(token)))
	}
	clear(d.buf)
	for i := range 24 {
		state = mix(state + uint64(i))
		token := int32(state % uint64(len(d.buf)))
		if i%2 == 0 {
			token = d.lucky[state%uint64(len(d.lucky))]
		}
		d.buf[token] = 4 + float32(state>>40)/(1<<22) // up to 8
	}
	return d.buf
}

// mix is the last step of splitmix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (d *dice) Encode(decode.ImageInput) ([]float32, decode.Outcome, error) {
	return nil, decode.Failed, nil
}
func (d *dice) DecodeImage(decode.ImageBatch) decode.Outcome { return decode.Failed }
func (d *dice) CopySequence(src, dst, n int)                 { d.texts[dst] = slices.Clone(d.texts[src][:n]) }
func (d *dice) RemoveSequence(id int)                        { delete(d.texts, id) }
func (d *dice) Truncate(id, n int)                           { d.texts[id] = d.texts[id][:n] }
func (d *dice) SharesPrefixes() bool                         { return true }
func (d *dice) Independent() bool                            { return true }
func (d *dice) HasStart(int) bool                            { return true }
func (d *dice) Interrupt()                                   { d.interrupted.Store(true) }
func (d *dice) Resume()                                      { d.interrupted.Store(false) }

// diceVectors stand for the weights where vectors are wanted.
type diceVectors struct {
	rows        [][]float32
	interrupted *atomic.Bool
}

func (d *diceVectors) Decode(batch []decode.Entry) decode.Outcome {
	if d.interrupted.Load() {
		return decode.Interrupted
	}
	d.rows = d.rows[:0]
	for _, e := range batch {
		v := make([]float32, 8)
		for i := range v {
			v[i] = float32(math.Sin(float64(e.Token) * float64(i+1)))
		}
		d.rows = append(d.rows, v)
	}
	return decode.Computed
}

func (d *diceVectors) Vector(_, row int) ([]float32, bool) { return d.rows[row], true }
func (d *diceVectors) Clear()                              {}
func (d *diceVectors) Free()                               {}
func (d *diceVectors) Interrupt()                          { d.interrupted.Store(true) }
func (d *diceVectors) Resume()                             { d.interrupted.Store(false) }

// openedDice are the models of [openDice] by their paths, opened once for all
// targets.
var openedDice = map[string]*decode.Model{}

// openDice opens a model file whose weights are never computed with: all but
// them is as in [Open].
func openDice(t testing.TB, path string) *decode.Model {
	t.Helper()
	if m := openedDice[path]; m != nil {
		return m
	}
	(&logSink{log: slog.New(slog.DiscardHandler)}).register()
	file, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	cancel := newFlag()
	w := loadWeights(path, mapped, kernels{ours: true}, cancel)
	cancel.free()
	if w == nil {
		t.Fatalf("llama.cpp cannot load %s", path)
	}
	vocab, err := w.vocabulary()
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := w.newTokenizer(path, file, vocab)
	if err != nil {
		t.Fatal(err)
	}
	const parallel = 4
	embedding, err := embeddingOf(file)
	if err != nil {
		t.Fatal(err)
	}
	info := describe(path, time.Unix(0, 0), file, vocab, wholeContext)
	info.Vectors = chat.Vectors{Size: 8, Input: maxGeneratorInput, Vocabulary: vocab.Size()}
	m := decode.New(decode.Config{
		Info:       info,
		Vocabulary: vocab,
		Tokenizer:  encoder,
		Text:       &decode.Text{Backend: newDice(w, vocab), Parallel: parallel, Cells: parallel * wholeContext, Draft: true},
		Vectors: &decode.Vectors{Limits: embedding.limits(maxGeneratorInput), Open: func() (decode.VectorBackend, error) {
			return &diceVectors{interrupted: new(atomic.Bool)}, nil
		}},
		Free: w.free,
		Log:  slog.New(slog.DiscardHandler),
	})
	openedDice[path] = m
	return m
}

// shown is a model under another template, whose work can be looked at.
type shown struct {
	*decode.Model
	template string // empty: its own

	mu      sync.Mutex
	running int           // Decodes
	pieces  int           // that were taken
	prompts []uint64      // a hash of each prompt's control tokens, in order, since reset
	idle    chan struct{} // has a value when running has come to 0
}

// rest waits until nothing runs, and reports whether that came about in time.
func (w *shown) rest(ctx context.Context) bool {
	for {
		if running, _, _ := w.seen(); running == 0 {
			return true
		}
		select {
		case <-w.idle:
		case <-ctx.Done():
			return false
		}
	}
}

// reset forgets what was seen.
func (w *shown) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pieces, w.prompts = 0, nil
}

func (w *shown) seen() (running, pieces int, prompts []uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running, w.pieces, slices.Clone(w.prompts)
}

func (w *shown) Info() chat.Info {
	info := w.Model.Info()
	info.Name = "m"
	if w.template != "" {
		info.Template = w.template
	}
	return info
}

var controlSeed = maphash.MakeSeed()

func (w *shown) Tokenize(ctx context.Context, prompt prompt.Prompt) ([]int32, error) {
	tokens, err := w.Model.Tokenize(ctx, prompt)
	if err != nil {
		return nil, err
	}
	var hash maphash.Hash
	hash.SetSeed(controlSeed)
	for _, token := range tokens {
		if w.Vocabulary().Is(token, decode.KindControl) {
			maphash.WriteComparable(&hash, token)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.prompts = append(w.prompts, hash.Sum64())
	return tokens, nil
}

func (w *shown) Decode(ctx context.Context, job chat.Job) iter.Seq2[chat.Piece, error] {
	return func(yield func(chat.Piece, error) bool) {
		w.begin()
		defer w.end()
		for piece, err := range w.Model.Decode(ctx, job) {
			w.count()
			if !yield(piece, err) {
				return
			}
		}
	}
}

func (w *shown) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running++
}

func (w *shown) count() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pieces++
}

func (w *shown) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running--; w.running > 0 {
		return
	}
	select {
	case w.idle <- struct{}{}:
	default:
	}
}
