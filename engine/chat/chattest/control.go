// Package chattest tests that no text of a request becomes a special token, end to
// end from the request to the tokens of its prompt.
package chattest

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/template"
	"github.com/diglot/diglot/engine/chat/tokenizer"
	"github.com/diglot/diglot/engine/chat/tokenizer/tokenizertest"
)

// Subject is a model under test.
type Subject struct {
	Info chat.Info

	Vocabulary *tokenizer.Vocabulary
	Tokenize   func(ctx context.Context, prompt prompt.Prompt) ([]int32, error)

	// Spell is the text of a token, special tokens included.
	Spell func(token int32) string

	// Whole sends requests through a [chat.Engine] instead of the template alone.
	Whole bool

	// Looks are strings that the template searches for in the client's text.
	// A prompt whose request has one is not compared with a rendering that knows
	// no special tokens.
	Looks []string
}

// NewSubject returns the Subject of a vocabulary and a template.
func NewSubject(t testing.TB, v *tokenizer.Vocabulary, template string) Subject {
	t.Helper()
	tokens, err := tokenizer.New(v)
	if err != nil {
		t.Fatal(err)
	}
	return Subject{
		Info:       chat.Info{Name: "model", Template: template, Control: v.Special(), Context: 1 << 20},
		Vocabulary: v,
		Tokenize: func(ctx context.Context, prompt prompt.Prompt) ([]int32, error) {
			return tokens.Encode(ctx, nil, Parts(prompt), 1<<20)
		},
		Spell: tokenizertest.Speller(v),
	}
}

// Parts converts a prompt without images for the tokenizer.
func Parts(prompt prompt.Prompt) []tokenizer.Part {
	var parts []tokenizer.Part
	for _, s := range prompt.Spans {
		parts = append(parts, tokenizer.Part{Text: s.Text, Special: s.Special})
	}
	return parts
}

// checker checks one subject.
type checker struct {
	Subject
	reference     *tokenizer.Tokenizer // of the vocabulary without special tokens
	guarded, open *recorder            // with special tokens, and without
}

// recorder is a model that records the last prompt and generates nothing.
type recorder struct {
	chat.Model
	subject *Subject
	info    chat.Info
	render  func(ctx context.Context, req *engine.Request) error
	prompt  prompt.Prompt
	tokens  []int32
}

func newRecorder(t *testing.T, s *Subject, control []string) *recorder {
	t.Helper()
	r := &recorder{subject: s, info: s.Info}
	r.info.Control = control
	clock := func() time.Time { return time.Unix(1e9, 0) }
	if s.Whole {
		e, err := chat.New(r, slog.New(slog.DiscardHandler), clock)
		if err != nil {
			t.Fatal(err)
		}
		r.render = func(ctx context.Context, req *engine.Request) error {
			_, err := e.Count(ctx, req)
			return err
		}
		return r
	}
	template, err := template.New(s.Info.Template, template.Model{Format: r.info.Format, BOS: r.info.BOS, EOS: r.info.EOS, Control: r.info.Control}, clock)
	if err != nil {
		t.Fatal(err)
	}
	r.render = func(ctx context.Context, req *engine.Request) error {
		rendering, err := template.Render(ctx, req)
		if err == nil {
			_, err = r.Tokenize(ctx, prompt.Prompt{Spans: rendering.Spans, Request: req})
		}
		return err
	}
	return r
}

func (r *recorder) Info() chat.Info { return r.info }

func (r *recorder) Tokenize(ctx context.Context, prompt prompt.Prompt) (tokens []int32, err error) {
	r.prompt = prompt
	r.tokens, err = r.subject.Tokenize(ctx, prompt)
	return r.tokens, err
}

// read renders a request and returns the tokens.
func (r *recorder) read(t *testing.T, req *engine.Request) []int32 {
	t.Helper()
	req.Model = r.info.Name
	if err := r.render(t.Context(), req); err != nil {
		t.Fatalf("%v: %+v", err, req)
	}
	return r.tokens
}

// Check renders requests with hostile text in every field. It fails if the prompt
// has a special token that the template did not write, if the tokens do not
// spell the prompt, or if text is tokenized differently than by the vocabulary
// without special tokens.
func Check(t *testing.T, s Subject, rounds int) {
	t.Helper()
	c := newChecker(t, s)
	if len(s.Info.Control) == 0 {
		t.Fatal("the model has no special tokens")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range rounds {
		text := func() string { return Hostile(r, s.Info.Control) }
		if control := s.Info.Control; i%2 == 0 { // one special token in every field
			spelling := control[(i/2*7)%len(control)]
			text = func() string { return "a " + spelling + " b" }
		}
		looked := false
		watched := func() string {
			word := text()
			looked = looked || slices.ContainsFunc(s.Looks, func(l string) bool { return strings.Contains(word, l) })
			return word
		}
		c.check(t, Request(watched), Request(func() string { return "neutral" }))
		if !looked {
			c.compare(t)
		}
		if t.Failed() {
			return
		}
	}
}

func newChecker(t *testing.T, s Subject) *checker {
	t.Helper()
	c := &checker{Subject: s}
	plain := *s.Vocabulary
	plain.Kinds = slices.Clone(plain.Kinds)
	for i, kind := range plain.Kinds {
		if (kind == tokenizer.Control || kind == tokenizer.UserDefined) && strings.TrimSpace(plain.Texts[i]) != "" {
			plain.Kinds[i] = tokenizer.Unused
		}
	}
	var err error
	if c.reference, err = tokenizer.New(&plain); err != nil {
		t.Fatal(err)
	}
	c.guarded = newRecorder(t, &c.Subject, s.Info.Control)
	c.open = newRecorder(t, &c.Subject, nil)
	return c
}

func (c *checker) check(t *testing.T, hostile, neutral *engine.Request) {
	t.Helper()
	want := c.structure(c.guarded.read(t, neutral))
	tokens := c.guarded.read(t, hostile)
	prompt := c.guarded.prompt.String()
	if got := c.structure(tokens); !slices.Equal(got, want) {
		t.Errorf("the prompt has the special tokens\n%q, and for a neutral request\n%q:\n%q", got, want, prompt)
	}
	c.spells(t, tokens, prompt)
}

// compare renders the last request again, without special tokens.
func (c *checker) compare(t *testing.T) {
	t.Helper()
	c.open.read(t, c.guarded.prompt.Request)
	sent, prompt := c.open.prompt.String(), c.guarded.prompt.String()
	if sent == prompt {
		return
	}
	i := 0
	for i < len(sent) && i < len(prompt) && sent[i] == prompt[i] {
		i++
	}
	around := func(text string) string { return text[max(0, i-100):min(len(text), i+200)] }
	t.Errorf("the prompt is\n%q, and without special tokens\n%q", around(prompt), around(sent))
}

func (c *checker) isStructure(token int32) bool {
	kind := c.Vocabulary.Kinds[token]
	return (kind == tokenizer.Control || kind == tokenizer.UserDefined) && strings.TrimSpace(c.Vocabulary.Texts[token]) != ""
}

// structure lists the special tokens.
func (c *checker) structure(tokens []int32) []string {
	var found []string
	for _, token := range tokens {
		if c.isStructure(token) {
			found = append(found, c.Spell(token))
		}
	}
	return found
}

// spells checks that the tokens spell the prompt, and that text between special
// tokens is tokenized as by the reference.
func (c *checker) spells(t *testing.T, tokens []int32, prompt string) {
	t.Helper()
	rest := prompt
	for len(tokens) > 0 {
		n := slices.IndexFunc(tokens, c.isStructure)
		if n == 0 {
			spelling := c.Spell(tokens[0])
			if !strings.HasPrefix(rest, spelling) {
				t.Fatalf("token %q, and the prompt continues with %.80q", spelling, rest)
			}
			tokens, rest = tokens[1:], rest[len(spelling):]
			continue
		}
		if n < 0 {
			n = len(tokens)
		}
		var text strings.Builder
		for _, token := range tokens[:n] {
			text.WriteString(c.Spell(token))
		}
		spelled := text.String()
		if c.Vocabulary.AddSpace {
			spelled = strings.TrimPrefix(spelled, " ")
		}
		if !strings.HasPrefix(rest, spelled) {
			t.Fatalf("tokens spell %q, and the prompt continues with %.200q", spelled, rest)
		}
		want, err := c.reference.Encode(t.Context(), nil, []tokenizer.Part{{Text: spelled}}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(tokens[:n], want) {
			t.Fatalf("%q takes %d tokens, and %d without special tokens", spelled, n, len(want))
		}
		tokens, rest = tokens[n:], rest[len(spelled):]
	}
	if rest != "" {
		t.Fatalf("the tokens end before %.200q", rest)
	}
}
