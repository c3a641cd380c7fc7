package chat

import (
	"context"
	"errors"
	"iter"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/prompt"
)

// Score makes each word a token, as Tokenize does, behind a start token.
func (m *fakeModel) Score(_ context.Context, job Job) ([]engine.TokenLogprob, error) {
	m.jobs.Store(&job)
	if m.broken != nil {
		return nil, m.broken
	}
	tokens := []engine.TokenLogprob{{Token: []byte("<s>"), Logprob: math.NaN()}}
	for i, word := range strings.SplitAfter(job.Request.Prompt.Text, " ") {
		t := engine.TokenLogprob{Token: []byte(word), Logprob: -float64(i) - 0.5}
		for range *job.Logprobs {
			t.Top = append(t.Top, engine.TokenLogprob{Token: t.Token, Logprob: t.Logprob})
		}
		tokens = append(tokens, t)
	}
	return tokens, nil
}

func rawRequest(text string) *engine.Request {
	return &engine.Request{Model: "fake", Prompt: &engine.Prompt{Text: text}, Choices: 1}
}

// TestRaw uses a format with markup: none of it means anything in the
// continuation of a raw prompt.
func TestRaw(t *testing.T) {
	markup := []string{"<think>", "hm", "</think>\n\n", "<tool_call>\n", `{"name": "f", "arguments": {}}`, "\n</tool_call>", " \n"}
	tests := []struct {
		name   string
		pieces []string
		change func(*engine.Request)
		want   engine.Choice
	}{
		{"what the model says is text", markup, nil,
			engine.Choice{Blocks: []engine.Block{text(strings.Join(markup, ""))}, Reason: engine.FinishEndOfTurn}},
		{"nothing", nil, nil, engine.Choice{Reason: engine.FinishEndOfTurn}},
		{"a stop string over pieces", []string{"a S", "TO", "P"}, func(r *engine.Request) { r.Stop = []string{"STOP"} },
			engine.Choice{Blocks: []engine.Block{text("a ")}, Reason: engine.FinishStopSequence, StopSequence: "STOP"}},
		{"a character in two tokens", []string{"\xe2\x82", "\xac"}, nil,
			engine.Choice{Blocks: []engine.Block{text("€")}, Reason: engine.FinishEndOfTurn}},
		{"JSON mode", []string{"{", "}"}, func(r *engine.Request) { r.Format.Kind = engine.FormatJSON },
			engine.Choice{Blocks: []engine.Block{text("{}")}, Reason: engine.FinishEndOfTurn}},
		{"echo", []string{" day"}, func(r *engine.Request) { r.Prompt.Echo = true },
			engine.Choice{Blocks: []engine.Block{text("a new day")}, Reason: engine.FinishEndOfTurn}},
		{"echo of nothing", []string{"x"}, func(r *engine.Request) { *r.Prompt = engine.Prompt{Echo: true} },
			engine.Choice{Blocks: []engine.Block{text("x")}, Reason: engine.FinishEndOfTurn}},
		{"echo alone", []string{"x"}, func(r *engine.Request) { r.Prompt.Echo, r.MaxTokens = true, new(0) },
			engine.Choice{Blocks: []engine.Block{text("a new")}, Reason: engine.FinishMaxTokens}},
		{"a stop string in the prompt is none", []string{"w day"}, func(r *engine.Request) { r.Prompt.Echo, r.Stop = true, []string{"new", "eww", "d"} },
			engine.Choice{Blocks: []engine.Block{text("a neww ")}, Reason: engine.FinishStopSequence, StopSequence: "d"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req := rawRequest("a new")
			if test.change != nil {
				test.change(req)
			}
			r := generate(t, testEngine("hermes", "", &fakeModel{pieces: test.pieces, end: EndOfTurn}), req)
			if diff := cmp.Diff([]engine.Choice{test.want}, r.Choices); diff != "" {
				t.Errorf("choices (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRawSpans(t *testing.T) {
	fim := prompt.FIM{Prefix: "<P>", Suffix: "<S>", Middle: "<M>"}
	special := func(spelling string) prompt.Span { return prompt.Span{Text: spelling, Special: true} }
	for _, test := range []struct {
		name   string
		prompt engine.Prompt
		info   Info
		want   []prompt.Span
	}{
		{"a text, control tokens and all", engine.Prompt{Text: "a<P>b"}, Info{BOS: "<s>", FIM: fim}, []prompt.Span{{Text: "a"}, special("<P>"), {Text: "b"}}},
		{"nothing, with a start token", engine.Prompt{}, Info{BOS: "<s>", EOS: "</s>"}, []prompt.Span{special("<s>")}},
		{"nothing, without one", engine.Prompt{}, Info{EOS: "</s>"}, []prompt.Span{special("</s>")}},
		{"nothing, with a start token that is a word", engine.Prompt{}, Info{BOS: "begin"}, []prompt.Span{{Text: "begin"}}},
		{"a gap", engine.Prompt{Text: "a", Suffix: "b"}, Info{FIM: fim},
			[]prompt.Span{special("<P>"), {Text: "a"}, special("<S>"), {Text: "b"}, special("<M>")}},
		{"a gap, what follows it first", engine.Prompt{Text: "a[S]", Suffix: "b"}, Info{FIM: prompt.FIM{Suffix: "[S]", Prefix: "[P] ", SuffixFirst: true}},
			[]prompt.Span{special("[S]"), {Text: "b"}, special("[P]"), {Text: " "}, {Text: "a[S]"}}},
		{"marks with space beside them", engine.Prompt{Text: "<P>a", Suffix: "b<M>"}, Info{FIM: prompt.FIM{Prefix: "<P> ", Suffix: " <S>", Middle: " <M>"}},
			[]prompt.Span{special("<P>"), {Text: " "}, {Text: "<P>a"}, {Text: " "}, special("<S>"), {Text: "b<M>"}, {Text: " "}, special("<M>")}},
		{"marks of the client's own", engine.Prompt{Text: "<S>a<P><M>", Suffix: "<file>b<M>c"}, Info{FIM: fim},
			[]prompt.Span{special("<P>"), {Text: "<S>a<P><M>"}, special("<S>"), special("<file>"), {Text: "b<M>c"}, special("<M>")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			known := prompt.Spellings([]string{"<P>", "<S>", "<M>", "<s>", "</s>", "[P]", "[S]", "<file>"})
			if diff := cmp.Diff(test.want, rawSpans(&test.prompt, test.info, known), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestRawRefused(t *testing.T) {
	for _, test := range []struct {
		name  string
		req   *engine.Request
		code  engine.Code
		place engine.Place
	}{
		{"a gap, and no tokens for it", &engine.Request{Prompt: &engine.Prompt{Text: "a", Suffix: "b"}}, engine.CodeUnsupported, engine.Place{Field: engine.FieldSuffix}},
		{"a prompt that is too long", &engine.Request{Prompt: &engine.Prompt{Text: strings.Repeat("x ", 1000)}}, engine.CodeContextLength, engine.Place{Field: engine.FieldPrompt}},
		{"a schema that is none", &engine.Request{Prompt: &engine.Prompt{Text: "a"}, Format: engine.Format{Kind: engine.FormatSchema, Schema: []byte(`{"type":"x"}`)}},
			engine.CodeInvalidArgument, engine.Place{Field: engine.FieldFormat}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.req.Model = "fake"
			for event, err := range testEngine("plain", "", &fakeModel{end: EndOfTurn}).Generate(t.Context(), test.req) {
				coded := (*engine.Error)(nil)
				if !errors.As(err, &coded) || coded.Code != test.code || coded.Place != test.place {
					t.Errorf("got %v, %v, want an error with code %s at %+v", event, err, test.code, test.place)
				}
				if test.code == engine.CodeContextLength && (coded.Tokens != 1000 || coded.Limit != 1000) {
					t.Errorf("%d tokens, limit %d", coded.Tokens, coded.Limit)
				}
			}
		})
	}
}

// TestScore checks that a prompt is scored once, with its own part in the
// counts, and stands before each choice.
func TestScore(t *testing.T) {
	req := rawRequest("a new day")
	req.Prompt.Echo, req.Logprobs, req.Choices = true, new(1), 2
	r := generate(t, testEngine("plain", "", &fakeModel{pieces: []string{"!", "?"}, end: EndOfTurn}), req)
	for i, c := range r.Choices {
		var got []string
		for _, token := range c.Blocks[0].Logprobs {
			got = append(got, string(token.Token))
		}
		if diff := cmp.Diff([]string{"a ", "new ", "day", "!", "?"}, got); diff != "" {
			t.Errorf("tokens of choice %d (-want +got):\n%s", i, diff)
		}
	}
	if want := (engine.Usage{PromptTokens: 3, CompletionTokens: 4}); r.Usage != want {
		t.Errorf("usage %+v, want %+v", r.Usage, want)
	}
}

func TestEchoed(t *testing.T) {
	list := func(tokens ...string) []engine.TokenLogprob {
		var all []engine.TokenLogprob
		for i, token := range tokens {
			all = append(all, engine.TokenLogprob{Token: []byte(token), Logprob: -float64(i)})
		}
		return all
	}
	at := func(logprob float64, token string) engine.TokenLogprob {
		return engine.TokenLogprob{Token: []byte(token), Logprob: logprob}
	}
	for _, test := range []struct {
		name, text string
		tokens     []engine.TokenLogprob
		want       []engine.TokenLogprob
	}{
		{"as it is", "ab", list("a", "b"), list("a", "b")},
		{"a start token", "ab", list("<s>", "a", "b"), []engine.TokenLogprob{at(-1, "a"), at(-2, "b")}},
		{"a start token that the client wrote", "<s>a", list("<s>", "a"), list("<s>", "a")},
		{"a blank in front", "ab", list("<s>", " a", "b"), []engine.TokenLogprob{at(-1, "a"), at(-2, "b")}},
		{"a blank in front of another", " ab", list("<s>", " ", " a", "b"), []engine.TokenLogprob{at(-1, " "), at(-2, "a"), at(-3, "b")}},
		{"a token that is a blank in front", "ab", list("<s>", " ", "a", "b"), []engine.TokenLogprob{at(-2, "a"), at(-3, "b")}},
		{"marks around a gap", "ab", list("<P>", "a", "b", "<S>", "a", "<M>"), []engine.TokenLogprob{at(-1, "a"), at(-2, "b")}},
		{"parts of a character", "€", list("\xe2\x82", "\xac"), list("\xe2\x82", "\xac")},
		{"what the tokenizer changed", "a\u0301b", list("á", "b"), []engine.TokenLogprob{at(math.NaN(), "a\u0301b")}},
		{"what it changed later", "ab\u0301", list("a", "?"), []engine.TokenLogprob{at(0, "a"), at(math.NaN(), "b\u0301")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, echoed(test.text, test.tokens), cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// ratedModel answers each choice with as many tokens as it says, all of them
// as likely as it says.
type ratedModel struct {
	fakeModel
	rates  []float64
	tokens []int
}

func (m *ratedModel) Decode(_ context.Context, job Job) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		for range m.tokens[job.Choice] {
			p := Piece{Bytes: []byte{'a' + byte(job.Choice)}}
			if job.Logprobs != nil {
				p.Logprob = m.rates[job.Choice]
			}
			if !yield(p, nil) {
				return
			}
		}
		yield(Piece{End: EndOfTurn}, nil)
	}
}

func TestBestOf(t *testing.T) {
	for _, test := range []struct {
		name   string
		wanted int
		rates  []float64
		tokens []int
		want   []string
	}{
		{"the likeliest", 1, []float64{-3, -1, -2}, []int{1, 1, 1}, []string{"b"}},
		{"likeliest first", 2, []float64{-3, -2, -1}, []int{1, 1, 1}, []string{"c", "b"}},
		{"the mean counts, not the sum", 1, []float64{-1, -2}, []int{4, 1}, []string{"aaaa"}},
		{"of equals the first", 2, []float64{-1, -1, -1}, []int{1, 2, 3}, []string{"a", "bb"}},
		{"nothing is the worst", 1, []float64{0, -9}, []int{0, 1}, []string{"b"}},
		{"no more than wanted", 2, []float64{-3, -1}, []int{1, 1}, []string{"a", "b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := &ratedModel{rates: test.rates, tokens: test.tokens}
			e := testEngine("plain", "", &m.fakeModel)
			e.model = m
			req := rawRequest("x")
			req.Choices, req.BestOf = test.wanted, len(test.rates)
			r := generate(t, e, req)
			var got []string
			for _, c := range r.Choices {
				got = append(got, c.Blocks[0].Text)
				if c.Blocks[0].Logprobs != nil {
					t.Errorf("log probabilities that nobody asked for: %+v", c)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			all := 0
			for _, n := range test.tokens {
				all += n
			}
			if r.Usage.CompletionTokens != all {
				t.Errorf("%d tokens are counted, and %d were generated", r.Usage.CompletionTokens, all)
			}
		})
	}
}

// TestBestBreaks checks that an error ends all answers.
func TestBestBreaks(t *testing.T) {
	broken := engine.Errorf(engine.CodeEngineCrashed, "Gone.")
	m := &fakeModel{pieces: []string{"a"}, broken: broken}
	req := rawRequest("x")
	req.BestOf = 3
	var last error
	for _, err := range testEngine("plain", "", m).Generate(t.Context(), req) {
		last = err
	}
	if !errors.Is(last, broken) || m.running.Load() != 0 {
		t.Errorf("ends with %v, and %d Decodes run on", last, m.running.Load())
	}
}
