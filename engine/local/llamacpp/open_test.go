//go:build llamacpp && cgo

package llamacpp

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/tokenizer"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/decode"
)

// smallest is the model that most tests here run.
const smallest = "smollm2-135m"

// modelFile finds a model where the fetch program puts it.
func modelFile(t testing.TB, name string) string {
	t.Helper()
	folder := os.Getenv("DIGLOT_WEIGHTS")
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		folder = filepath.Join(cache, "diglot", "models")
	}
	path := filepath.Join(folder, name+".gguf")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v\nget it with: go run ./tools/fetch %s", err, name)
	}
	return path
}

func openModel(t testing.TB, options Options) *decode.Model {
	t.Helper()
	if options.Path == "" {
		options.Path = modelFile(t, smallest)
	}
	if testing.Verbose() {
		options.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	m, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// configured is what a model is made of before it is one.
func configured(t testing.TB, options Options) decode.Config {
	t.Helper()
	options = options.withDefaults()
	file, err := gguf.Open(options.Path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := configure(t.Context(), options, file)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tokenize makes tokens of a text, control tokens included.
func tokenize(t testing.TB, m *decode.Model, text string) []int32 {
	t.Helper()
	var spans []prompt.Span
	done := 0
	for from, to := range tokenizer.NewSpellings(slices.Collect(maps.Keys(m.Vocabulary().Control))).Find(text) {
		spans = append(spans, prompt.Span{Text: text[done:from]}, prompt.Span{Text: text[from:to], Special: true})
		done = to
	}
	tokens, err := m.Tokenize(t.Context(), prompt.Prompt{Spans: append(spans, prompt.Span{Text: text[done:]})})
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// ask writes a prompt as the template of the small models does.
func ask(question string) string {
	return "<|im_start|>user\n" + question + "<|im_end|>\n<|im_start|>assistant\n"
}

func greedy(prompt []int32, max int) chat.Job {
	return chat.Job{Prompt: prompt, MaxTokens: max}
}

// reply is a whole Decode.
type reply struct {
	text   string
	pieces []chat.Piece
	end    chat.Piece
}

func answerOf(ctx context.Context, m *decode.Model, job chat.Job) (reply, error) {
	var r reply
	var text strings.Builder
	for p, err := range m.Decode(ctx, job) {
		if err != nil {
			return r, err
		}
		if p.End != chat.EndNone {
			r.end = p
			break
		}
		text.Write(p.Bytes)
		r.pieces = append(r.pieces, p)
	}
	r.text = text.String()
	if r.end.End == chat.EndNone {
		return r, fmt.Errorf("the sequence has no end; text so far %q", r.text)
	}
	return r, nil
}

func TestDecode(t *testing.T) {
	m := openModel(t, Options{})
	job := greedy(tokenize(t, m, ask("What is the capital of France?")), 40)
	got, err := answerOf(t.Context(), m, job)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.text, "Paris") || got.end.End != chat.EndOfTurn {
		t.Errorf("the answer is %q, end %q", got.text, got.end.End)
	}
}
