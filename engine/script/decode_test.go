package script

import (
	"context"
	"errors"
	"iter"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/grammar"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/google/go-cmp/cmp"
)

// load makes the model whose replies are given, as a YAML list.
func load(t *testing.T, replies string) *Model {
	t.Helper()
	models, err := Load(strings.NewReader("models: {m: {replies: " + replies + "}}"))
	if err != nil {
		t.Fatal(err)
	}
	return models[0]
}

func say(role engine.Role, parts ...engine.Part) engine.Message {
	return engine.Message{Role: role, Parts: parts}
}

func ask(messages ...engine.Message) *engine.Request {
	return &engine.Request{Model: "m", Messages: messages}
}

var hello = ask(say(engine.RoleUser, engine.Text{Text: "hello"}))

// record collects the text of each token, and the end.
func record(pieces iter.Seq2[chat.Piece, error]) (tokens []string, end chat.End, err error) {
	for p, err := range pieces {
		if err != nil {
			return tokens, end, err
		}
		if p.End != chat.EndNone {
			end = p.End
			continue
		}
		tokens = append(tokens, string(p.Bytes))
	}
	return tokens, end, nil
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		name, replies string
		max           int
		tokens        []string
		end           chat.End
		code          engine.Code
	}{
		{"plain", `[{pieces: [a, b]}]`, 9, []string{"a", "b"}, chat.EndOfTurn, ""},
		{"bytes", `[{pieces: [{base64: "4pw="}, {base64: "kw=="}]}]`, 9, []string{"\xe2\x9c", "\x93"}, chat.EndOfTurn, ""},
		{"nothing", `[{pieces: []}]`, 9, nil, chat.EndOfTurn, ""},
		{"an empty token is a token", `[{pieces: ["", a, b]}]`, 2, []string{"", "a"}, chat.EndLength, ""},
		{"a pause is none", `[{pieces: [a, {sleep: 0s}, b, c]}]`, 2, []string{"a", "b"}, chat.EndLength, ""},
		{"as long as allowed", `[{pieces: [a, b]}]`, 2, []string{"a", "b"}, chat.EndLength, ""},
		{"length", `[{pieces: [a], finish: length}]`, 9, []string{"a"}, chat.EndLength, ""},
		{"crash", `[{pieces: [a], finish: crash}]`, 9, []string{"a"}, chat.EndNone, engine.CodeEngineCrashed},
		{"cut before the crash", `[{pieces: [a], finish: crash}]`, 1, []string{"a"}, chat.EndLength, ""},
		{"nothing fits", `[{when: {contains: weather}, pieces: [a]}]`, 9, nil, chat.EndNone, engine.CodeInvalidArgument},
		{"the first that fits", `[{when: {contains: weather}, pieces: [a]}, {when: {contains: hell}, pieces: [b]}, {pieces: [c]}]`, 9, []string{"b"}, chat.EndOfTurn, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			job := chat.Job{Request: hello, MaxTokens: tt.max}
			tokens, end, err := record(load(t, tt.replies).Decode(t.Context(), job))
			var code engine.Code
			var coded *engine.Error
			if errors.As(err, &coded) {
				code = coded.Code
			}
			if code != tt.code || (err != nil && code == "") {
				t.Errorf("error %v, want code %q", err, tt.code)
			}
			if end != tt.end {
				t.Errorf("end %q, want %q", end, tt.end)
			}
			if diff := cmp.Diff(tt.tokens, tokens); diff != "" {
				t.Errorf("tokens (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := load(t, `[{pieces: [a, {sleep: 20ms}, b, {sleep: 3s}, c]}]`)
		start := time.Now()
		var at []time.Duration
		for range m.Decode(t.Context(), chat.Job{Request: hello, MaxTokens: 9}) {
			at = append(at, time.Since(start))
		}
		want := []time.Duration{0, 20 * time.Millisecond, 3020 * time.Millisecond, 3020 * time.Millisecond}
		if diff := cmp.Diff(want, at); diff != "" {
			t.Errorf("times (-want +got):\n%s", diff)
		}
	})
}

func TestEndsEarly(t *testing.T) {
	for _, tt := range []struct {
		name, replies string
		code          engine.Code
		end           func(cancel context.CancelFunc, m *Model)
	}{
		{"the client leaves a stalled reply", `[{pieces: [a], finish: stall}]`, engine.CodeCanceled, func(cancel context.CancelFunc, _ *Model) { cancel() }},
		{"the client leaves a pause", `[{pieces: [a, {sleep: 1h}, b]}]`, engine.CodeCanceled, func(cancel context.CancelFunc, _ *Model) { cancel() }},
		{"the client leaves between tokens", `[{pieces: [a, b]}]`, engine.CodeCanceled, func(cancel context.CancelFunc, _ *Model) { cancel() }},
		{"the model is closed", `[{pieces: [a], finish: stall}]`, engine.CodeInternal, func(_ context.CancelFunc, m *Model) { _ = m.Close() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				m := load(t, tt.replies)
				var tokens int
				var last error
				for _, err := range m.Decode(ctx, chat.Job{Request: hello, MaxTokens: 9}) {
					if last = err; err == nil {
						tokens++
						tt.end(cancel, m)
					}
				}
				var coded *engine.Error
				if !errors.As(last, &coded) || coded.Code != tt.code || tokens != 1 {
					t.Errorf("%d tokens, then %v; want 1 and code %q", tokens, last, tt.code)
				}
			})
		})
	}
}

func TestBreak(t *testing.T) {
	m := load(t, `[{pieces: [a, b], finish: crash}]`)
	for range m.Decode(t.Context(), chat.Job{Request: hello, MaxTokens: 9}) {
		break
	}
}

func TestPicks(t *testing.T) {
	m := load(t, `[{when: {contains: x}, pieces: [a]}, {pieces: [b]}]`)
	x, y := engine.Text{Text: "an x"}, engine.Text{Text: "a y"}
	for _, tt := range []struct {
		name     string
		messages []engine.Message
		fits     bool
	}{
		{"user", []engine.Message{say(engine.RoleUser, x)}, true},
		{"only the last user turn", []engine.Message{say(engine.RoleUser, x), say(engine.RoleUser, y)}, false},
		{"any part of the turn", []engine.Message{say(engine.RoleUser, x, y)}, true},
		{"tool result", []engine.Message{say(engine.RoleUser, y), say(engine.RoleTool, engine.ToolResult{Parts: []engine.Part{x}})}, true},
		{"not system", []engine.Message{say(engine.RoleUser, y), say(engine.RoleSystem, x)}, false},
		{"not assistant", []engine.Message{say(engine.RoleUser, y), say(engine.RoleAssistant, x)}, false},
		{"behind an assistant turn", []engine.Message{say(engine.RoleUser, x), say(engine.RoleAssistant, y)}, true},
		{"behind a turn without text", []engine.Message{say(engine.RoleUser, x), say(engine.RoleUser, engine.Image{})}, true},
		{"none", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tokens, _, err := record(m.Decode(t.Context(), chat.Job{Request: ask(tt.messages...), MaxTokens: 9}))
			if err != nil {
				t.Fatal(err)
			}
			if got := tokens[0] == "a"; got != tt.fits {
				t.Errorf("played %q, want fits = %t", tokens, tt.fits)
			}
		})
	}
}

func TestTokenize(t *testing.T) {
	m := load(t, `[{when: {contains: hello}, pieces: [], prompt_tokens: 7}, {when: {contains: words}, pieces: []}]`)
	words := ask(say(engine.RoleUser, engine.Text{Text: "words"}))
	spans := []prompt.Span{{Text: "two "}, {Text: "words,\n\tfour "}, {Text: "words"}}
	for _, tt := range []struct {
		name string
		req  *engine.Request
		want int
	}{
		{"as the reply says", hello, 7},
		{"words", words, 4},
		{"words without a request", nil, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tokens, err := m.Tokenize(t.Context(), prompt.Prompt{Spans: spans, Request: tt.req})
			if err != nil || len(tokens) != tt.want {
				t.Errorf("%d tokens, error %v; want %d", len(tokens), err, tt.want)
			}
		})
	}
	if _, err := m.Tokenize(t.Context(), prompt.Prompt{Request: ask()}); engine.AsError(err) == nil || engine.AsError(err).Code != engine.CodeInvalidArgument {
		t.Errorf("no reply fits: error %v, want code %q", err, engine.CodeInvalidArgument)
	}
}

func TestLogprobs(t *testing.T) {
	m := load(t, `[{pieces: [a]}]`)
	two := 2
	for _, tt := range []struct {
		name string
		n    *int
		want []engine.TokenLogprob
	}{
		{"not asked for", nil, nil},
		{"none", new(int), nil},
		{"two", &two, []engine.TokenLogprob{
			{Token: []byte("a"), Logprob: math.Log(0.5)},
			{Token: []byte("alternative 1"), Logprob: math.Log(0.25)},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for p, err := range m.Decode(t.Context(), chat.Job{Request: hello, MaxTokens: 9, Logprobs: tt.n}) {
				if err != nil {
					t.Fatal(err)
				}
				if p.End != chat.EndNone {
					continue
				}
				if p.Logprob != math.Log(0.5) {
					t.Errorf("logprob %v, want log(1/2)", p.Logprob)
				}
				if diff := cmp.Diff(tt.want, p.Top); diff != "" {
					t.Errorf("top (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestConstraint(t *testing.T) {
	two, err := grammar.Compile(t.Context(), grammar.Choice(grammar.Literal("yes"), grammar.Literal("no")))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, replies, want string
		max                 int
	}{
		{"kept", `[{pieces: ["y", "es"]}]`, "", 9},
		{"left", `[{pieces: ["y", "ep"]}]`, `"ep" is not allowed`, 9},
		{"ends too early", `[{pieces: ["y"]}]`, "ends too early", 9},
		{"cut by the request", `[{pieces: ["y", "es"]}]`, "", 1},
		{"cut by the script", `[{pieces: ["y"], finish: length}]`, "", 9},
		{"goes on behind the end", `[{pieces: ["no", "!"]}]`, `"!" is not allowed`, 9},
		{"second reply", `[{when: {contains: x}, pieces: []}, {pieces: [maybe]}]`, "Reply 2 ", 9},
	} {
		t.Run(tt.name, func(t *testing.T) {
			job := chat.Job{Request: hello, MaxTokens: tt.max, Constraint: two.Matcher()}
			_, _, err := record(load(t, tt.replies).Decode(t.Context(), job))
			if tt.want == "" {
				if err != nil {
					t.Errorf("error %v, want none", err)
				}
				return
			}
			coded := engine.AsError(err)
			if coded == nil || coded.Code != engine.CodeInternal || !coded.NoRetry || !strings.Contains(coded.Message, tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// A reply that is too ambiguous to follow through the constraint is the
// request's mistake, not the script's.
func TestTooAmbiguous(t *testing.T) {
	letter := grammar.Choice(grammar.Literal("a"), grammar.Literal("aa"))
	g, err := grammar.Compile(t.Context(), grammar.Repeat(grammar.Repeat(letter, 0, 999), 0, 999))
	if err != nil {
		t.Fatal(err)
	}
	job := chat.Job{Request: hello, MaxTokens: 9, Constraint: g.Matcher()}
	_, _, err = record(load(t, `[{pieces: ["`+strings.Repeat("a", 20_000)+`"]}]`).Decode(t.Context(), job))
	if e := engine.AsError(err); e == nil || e.Code != engine.CodeInvalidArgument || !errors.Is(e, grammar.ErrTooMuchWork) {
		t.Errorf("got %v, want %s", err, engine.CodeInvalidArgument)
	}
}
