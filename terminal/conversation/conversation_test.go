package conversation

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/terminal"
)

// parrot is an engine that keeps what it is asked, and answers with events
// of its own.
type parrot struct {
	engine.Engine
	asked  []*engine.Request
	answer func(ctx context.Context, n int, yield func(engine.Event, error) bool) // of request n, from 0
}

func (p *parrot) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	p.asked = append(p.asked, req)
	return func(yield func(engine.Event, error) bool) { p.answer(ctx, len(p.asked)-1, yield) }
}

// says answers each request with the same events.
func says(events ...engine.Event) *parrot {
	return &parrot{answer: func(_ context.Context, _ int, yield func(engine.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}}
}

// text is the events of an answer with thoughts and pieces of text.
func text(thoughts string, pieces ...string) []engine.Event {
	events := []engine.Event{engine.Start{PromptTokens: 3}}
	block := 0
	if thoughts != "" {
		events = append(events, engine.BlockStart{Kind: engine.BlockReasoning}, engine.ReasoningDelta{Text: thoughts}, engine.BlockStop{})
		block++
	}
	events = append(events, engine.BlockStart{Index: block, Kind: engine.BlockText})
	for _, p := range pieces {
		events = append(events, engine.TextDelta{Index: block, Text: p})
	}
	return append(events, engine.BlockStop{Index: block}, engine.Finish{Reason: engine.FinishEndOfTurn},
		engine.Done{Usage: engine.Usage{PromptTokens: 3, CachedTokens: 1, CompletionTokens: 2}})
}

// said is a conversation as "role: text" lines.
func said(messages []engine.Message) []string {
	var lines []string
	for _, m := range messages {
		line := string(m.Role) + ":"
		for _, p := range m.Parts {
			switch p := p.(type) {
			case engine.Text:
				line += " " + p.Text
			case engine.Image:
				line += " (image)"
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name            string
		events          []engine.Event
		person, program string
		remembered      string
	}{
		{"text", text("", "Hello", " there"), "Hello there\n", "Hello there\n", "Hello there"},
		{"thoughts", text("\nHm. ", "\n\nHello"), "\x1b[2mHm. \x1b[0m\n\nHello\n", "\n\nHello\n", "\n\nHello"},
		{"empty thoughts", text("\n\n", "Hello"), "Hello\n", "Hello\n", "Hello"},
		{"a line end of its own", text("", "Hello\n"), "Hello\n", "Hello\n", "Hello\n"},
		{"nothing", text(""), "", "", ""},
		{"what steers a terminal", text("", "\x1b]52;c;aGk=\aHi\x1b[2J"), "]52;c;aGk=Hi[2J\n", "\x1b]52;c;aGk=\aHi\x1b[2J\n", "\x1b]52;c;aGk=\aHi\x1b[2J"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, person := range []bool{true, false} {
				want := map[bool]string{true: tt.person, false: tt.program}[person]
				var out, notes bytes.Buffer
				c := New(Options{Engine: says(tt.events...), Model: "m", Screen: Screen{Answers: &out, Notes: &notes, Person: person}})
				if err := c.Ask(t.Context(), "hi", nil); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, out.String()); diff != "" {
					t.Errorf("person %t (-want +got):\n%s", person, diff)
				}
				if diff := cmp.Diff([]string{"user: hi", "assistant: " + tt.remembered}, said(c.turns)); diff != "" {
					t.Errorf("remembered (-want +got):\n%s", diff)
				}
				if notes.String() != "" {
					t.Errorf("notes: %q", notes.String())
				}
			}
		})
	}
}

func TestNotes(t *testing.T) {
	cut := append(text("", "Hel")[:4:4], engine.Finish{Reason: engine.FinishMaxTokens}, engine.Done{Usage: engine.Usage{PromptTokens: 5, CachedTokens: 2, CompletionTokens: 1}})
	var out, notes bytes.Buffer
	c := New(Options{Engine: says(cut...), Model: "m", Settings: Settings{Verbose: true}, Screen: Screen{Answers: &out, Notes: &notes}})
	if err := c.Ask(t.Context(), "hi", nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"cut off", "5 tokens, 2 of them read before", "answer:       1 tokens", "first token:  after ", "total: "} {
		if !strings.Contains(notes.String(), want) {
			t.Errorf("there is no %q in\n%s", want, notes.String())
		}
	}
}

func TestRequest(t *testing.T) {
	p := says(text("", "ok")...)
	c := New(Options{Engine: p, Model: "m", Settings: Settings{
		System: "Be brief.", MaxTokens: new(5), Stop: []string{"x"}, Sampling: engine.Sampling{Temperature: new(0.5)},
		Reasoning: engine.ReasoningOff, Format: engine.Format{Kind: engine.FormatJSON},
	}, Screen: Screen{Answers: io.Discard, Notes: io.Discard}})
	if err := errors.Join(c.Ask(t.Context(), "one", []engine.Image{{Data: []byte("p")}}), c.Ask(t.Context(), "two", nil)); err != nil {
		t.Fatal(err)
	}
	got := p.asked[1]
	want := []string{"system: Be brief.", "user: (image) one", "assistant: ok", "user: two"}
	if diff := cmp.Diff(want, said(got.Messages)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	got.Messages = nil
	rest := &engine.Request{Model: "m", MaxTokens: new(5), Stop: []string{"x"}, Sampling: engine.Sampling{Temperature: new(0.5)},
		Reasoning: engine.Reasoning{Mode: engine.ReasoningOff}, Format: engine.Format{Kind: engine.FormatJSON}, Choices: 1}
	if diff := cmp.Diff(rest, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestAskErrors(t *testing.T) {
	long := engine.Errorf(engine.CodeContextLength, "The prompt is too long.")
	crash := engine.Errorf(engine.CodeEngineCrashed, "The model's process died.")
	for _, tt := range []struct {
		name   string
		answer func(ctx context.Context, n int, yield func(engine.Event, error) bool)
		asks   int // beside the first
		err    error
		turns  int
	}{
		{"crash", func(_ context.Context, n int, yield func(engine.Event, error) bool) { yield(nil, crash) }, 1, crash, 0},
		{"too long at once", func(_ context.Context, n int, yield func(engine.Event, error) bool) { yield(nil, long) }, 1, long, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &parrot{answer: tt.answer}
			c := New(Options{Engine: p, Model: "m", Screen: Screen{Answers: io.Discard, Notes: io.Discard}})
			if err := c.Ask(t.Context(), "hi", nil); !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if len(c.turns) != tt.turns || len(p.asked) != tt.asks {
				t.Errorf("%d turns after %d requests, want %d after %d", len(c.turns), len(p.asked), tt.turns, tt.asks)
			}
		})
	}
}

// TestForget has a model that can see one question beside the last.
func TestForget(t *testing.T) {
	var notes bytes.Buffer
	p := &parrot{}
	p.answer = func(_ context.Context, n int, yield func(engine.Event, error) bool) {
		if len(p.asked[n].Messages) > 3 {
			yield(nil, engine.Errorf(engine.CodeContextLength, "too long"))
			return
		}
		for _, e := range text("", "ok") {
			yield(e, nil)
		}
	}
	c := New(Options{Engine: p, Model: "m", Screen: Screen{Answers: io.Discard, Notes: &notes}})
	for _, q := range []string{"one", "two", "three"} {
		if err := c.Ask(t.Context(), q, nil); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"user: two", "assistant: ok", "user: three", "assistant: ok"}, said(c.turns)); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	if strings.Count(notes.String(), "forgotten") != 1 {
		t.Errorf("notes: %s", notes.String())
	}
}

func TestStoppedAnswerIsRemembered(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &parrot{answer: func(ctx context.Context, _ int, yield func(engine.Event, error) bool) {
		for _, e := range text("", "half an")[:3] {
			yield(e, nil)
		}
		cancel()
		yield(nil, engine.AsError(ctx.Err()))
	}}
	var out bytes.Buffer
	c := New(Options{Engine: p, Model: "m", Screen: Screen{Answers: &out, Notes: io.Discard, Person: true}})
	if err := c.Ask(ctx, "hi", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"user: hi", "assistant: half an"}, said(c.turns)); diff != "" || out.String() != "half an\n" {
		t.Errorf("shown %q; turns (-want +got):\n%s", out.String(), diff)
	}
}

func TestSettings(t *testing.T) {
	for _, tt := range []struct{ name, value, want, err string }{
		{"system", "Be brief.", "Be brief.", ""},
		{"temperature", "0.5", "0.5", ""},
		{"temperature", "", "", ""},
		{"temperature", "hot", "", `temperature is a number from 0 to 100, not "hot"`},
		{"temperature", "NaN", "", `temperature is a number from 0 to 100, not "NaN"`},
		{"top_p", "1.5", "", `top_p is a number from 0 to 1, not "1.5"`},
		{"top_k", "40", "40", ""},
		{"top_k", "-1", "", `top_k is a whole number of at least 0, not "-1"`},
		{"max_tokens", "0", "", `max_tokens is a whole number of at least 1, not "0"`},
		{"seed", "-9", "-9", ""},
		{"seed", "x", "", `seed is a whole number, not "x"`},
		{"stop", "END", "END", ""},
		{"think", "on", "on", ""},
		{"think", "off", "off", ""},
		{"think", "", "", ""},
		{"think", "maybe", "", `think is on or off, not "maybe"`},
		{"format", "json", "json", ""},
		{"verbose", "on", "on", ""},
		{"repeat_last_n", "-1", "-1", ""},
		{"typical_p", "0.9", "0.9", ""},
		{"num_ctx", "4096", "", "num_ctx belongs to the model and not to a conversation: write PARAMETER num_ctx 4096 into a definition file " +
			"(diglot show NAME --modelfile prints one), make a model of it with diglot create, and use that"},
		{"speed", "9", "", `there is no setting "speed"; /set lists them`},
	} {
		var s Settings
		err := s.Set(tt.name, tt.value)
		if err != nil && err.Error() != tt.err || err == nil && tt.err != "" {
			t.Errorf("%s %q: error %v, want %s", tt.name, tt.value, err, tt.err)
		}
		for _, k := range settings {
			if k.name == tt.name && err == nil && k.get(&s) != tt.want {
				t.Errorf("%s %q: it is %q, want %q", tt.name, tt.value, k.get(&s), tt.want)
			}
		}
	}
}

// chat runs a loop over keys, and returns the requests and the screen.
func chat(t *testing.T, p *parrot, program Program, keys string) (c *Conversation, screen string) {
	t.Helper()
	var out bytes.Buffer
	e, err := terminal.OpenEditor(strings.NewReader(keys), &out, &terminal.History{})
	if err != nil {
		t.Fatal(err)
	}
	c = New(Options{Engine: p, Model: "m", Screen: Screen{Answers: e, Notes: e, Person: true}})
	if err := c.Loop(t.Context(), e, program); err != nil {
		t.Fatal(err)
	}
	e.Close()
	return c, out.String()
}

func TestLoop(t *testing.T) {
	dir := t.TempDir()
	path := pictureFile(t, filepath.Join(dir, "a.png"))
	other := says(text("", "I am the other")...)
	var saved Saved
	program := Program{
		Open: func(_ context.Context, name string) (engine.Engine, string, error) {
			if name != "other" {
				return nil, "", engine.ModelNotFound(name)
			}
			return other, name, nil
		},
		Show: func(_ context.Context, model string) (string, error) { return "about " + model, nil },
		Save: func(_ context.Context, _ string, as Saved) error { saved = as; return nil },
		Part: func(_ context.Context, model, part string) (string, error) {
			if part == "license" {
				return "", nil
			}
			return "the " + part + " of " + model + "\n", nil
		},
	}
	for _, tt := range []struct {
		name, keys string
		want       []string // of the last request's messages
		shown      string
	}{
		{"a question", "hi\r", []string{"user: hi"}, "ok\r\n\r\n>>> "},
		{"two", "one\r\rtwo\r", []string{"user: one", "assistant: ok", "user: two"}, "ok"},
		{"cleared", "one\r/clear\rtwo\r", []string{"user: two"}, "forgotten"},
		{"system", "/set system \"Be brief.\"\rhi\r", []string{"system: Be brief.", "user: hi"}, "ok"},
		{"settings", "/set temperature 0.5\r/set\r", nil, "temperature        0.5 "},
		{"settings as ollama has them", "/set parameter temperature 0.5\r/set parameter num_predict 7\r/set\r", nil, "temperature        0.5 "},
		{"its name for the most tokens", "/set parameter num_predict 7\r/set parameter\r", nil, "max_tokens         7 "},
		{"think", "/set think\r/set\r", nil, "think              on "},
		{"nothink", "/set nothink\r/set\r", nil, "think              off "},
		{"think as it likes", "/set think\r/set think default\r/set\r", nil, "think              - "},
		{"verbose", "/set verbose\rhi\r", []string{"user: hi"}, "first token:"},
		{"quiet", "/set verbose\r/set quiet\r/set\r", nil, "verbose            off "},
		{"what belongs to the model", "/set parameter num_ctx 4096\r", nil, "write PARAMETER num_ctx 4096 into a definition file"},
		{"said what is set", "/set temperature 0.5\r/set temperature\r", nil, "temperature: as the model likes"},
		{"nothing kept", "one\r/set nohistory\rtwo\r\x1b[A\x1b[A\r", []string{"user: one", "assistant: ok", "user: two", "assistant: ok", "user: one"}, "ok"},
		{"kept again", "/set nohistory\rone\r/set history\rtwo\r\x1b[A\r", []string{"user: one", "assistant: ok", "user: two", "assistant: ok", "user: two"}, "ok"},
		{"a path that is mistyped", "see ./no/such.png\r", []string{"user: see ./no/such.png"}, "no such picture: ./no/such.png; it is sent as text"},
		{"wrong setting", "/set temperature x\r", nil, `temperature is a number from 0 to 100, not "x"`},
		{"help", "/help\r", nil, "/load MODEL"},
		{"no such command", "/hlep\r", nil, "there is no command /hlep; /help lists them"},
		{"left", "/bye\rhi\r", nil, ""},
		{"left by a key", "\x04hi\r", nil, ""},
		{"stopped", "hi\x03\x03yo\r", []string{"user: yo"}, "Ctrl-D or /bye leaves."},
		{"several lines", "\"\"\"one\rtwo\"\"\"\r", []string{"user: one\ntwo"}, "... "},
		{"several lines with a slash", "\"\"\"/clear\rtwo\"\"\"\r", []string{"user: /clear\ntwo"}, "ok"},
		{"a picture", path + " what?\r", []string{"user: (image) what?"}, "With the picture " + path},
		{"a path that begins like a command", "/etc is what?\r", []string{"user: /etc is what?"}, "ok"},
		{"shown", "/show\r", nil, "about m\x1b[0m"},
		{"shown with what is set", "/set seed 7\r/show info\r", nil, "about m\r\n\r\nSet in this conversation\r\n  seed               7\x1b[0m"},
		{"a part of the model", "/show system\r", nil, "\x1b[2mthe system of m\x1b[0m"},
		{"a part that is set", "/set system \"Be brief.\"\r/show system\r", nil, "\x1b[2mBe brief.\x1b[0m"},
		{"its parameters", "/set seed 7\r/show parameters\r", nil, "\x1b[2mthe parameters of m\r\n\r\nSet in this conversation:\r\nseed               7\x1b[0m"},
		{"a part that there is not", "/show license\r", nil, "The model has no license of its own."},
		{"a part that nothing has", "/show colour\r", nil, `/show has no "colour"; it has system, parameters, template, license, modelfile`},
		{"no other", "/load none\r", nil, `The model "none" does not exist.`},
		{"none named", "/load\r/save\r", nil, "say what to call it: /save NAME"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := says(text("", "ok")...)
			_, screen := chat(t, p, program, tt.keys)
			var got []string
			if len(p.asked) > 0 {
				got = said(p.asked[len(p.asked)-1].Messages)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if !strings.Contains(screen, tt.shown) {
				t.Errorf("there is no %q in\n%q", tt.shown, screen)
			}
		})
	}
	t.Run("another model", func(t *testing.T) {
		c, screen := chat(t, says(text("", "ok")...), program, "hi\r/load other\ryo\r/set seed 7\r/save mine\r")
		if c.model != "other" || !strings.Contains(screen, "I am the other") {
			t.Errorf("model %s:\n%q", c.model, screen)
		}
		if diff := cmp.Diff([]string{"user: yo"}, said(other.asked[len(other.asked)-1].Messages)); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		if saved.Name != "mine" || *saved.Settings.Sampling.Seed != 7 || len(saved.Turns) != 2 {
			t.Errorf("saved %+v", saved)
		}
	})
}

// TestEarlier has models whose definitions begin the conversation: what they
// say is shown, at the start and after /load, and is not sent by us.
func TestEarlier(t *testing.T) {
	program := Program{
		Open: func(_ context.Context, name string) (engine.Engine, string, error) {
			return says(text("", "ok")...), name, nil
		},
		Earlier: func(_ context.Context, model string) ([]engine.Message, error) {
			if model == "lost" {
				return nil, errors.New("its messages cannot be read")
			}
			return []engine.Message{
				{Role: engine.RoleSystem, Parts: []engine.Part{engine.Text{Text: "Be brief."}}},
				{Role: engine.RoleUser, Parts: []engine.Part{engine.Image{}, engine.Text{Text: "What is\nthis?"}}},
				{Role: engine.RoleAssistant, Parts: []engine.Part{engine.Text{Text: "It is " + model + ".\x1b[2J"}}},
			}, nil
		},
	}
	p := says(text("", "ok")...)
	_, screen := chat(t, p, program, "hi\r/load other\r/load lost\r")
	for _, want := range []string{
		"\x1b[2m>>> (a picture) What is\r\n... this?\x1b[0m\r\n\x1b[2mIt is m.[2J\r\n\x1b[0m\r\n>>> hi",
		"It is other.", "its messages cannot be read",
	} {
		if !strings.Contains(screen, want) {
			t.Errorf("there is no %q in\n%q", want, screen)
		}
	}
	if strings.Contains(screen, "brief") {
		t.Errorf("the system text is shown:\n%q", screen)
	}
	if diff := cmp.Diff([]string{"user: hi"}, said(p.asked[0].Messages)); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// TestLoopStopsAnAnswer types Ctrl-C while an answer comes, and asks again.
func TestLoopStopsAnAnswer(t *testing.T) {
	in, typing := io.Pipe()
	p := &parrot{answer: func(ctx context.Context, n int, yield func(engine.Event, error) bool) {
		events := text("", "answer")
		if n > 0 {
			for _, e := range events {
				yield(e, nil)
			}
			return
		}
		yield(events[0], nil)
		go func() { _, _ = io.WriteString(typing, "\x03") }()
		<-ctx.Done()
		go func() {
			_, _ = io.WriteString(typing, "again\r")
			_ = typing.Close()
		}()
		yield(nil, engine.AsError(ctx.Err()))
	}}
	go func() { _, _ = io.WriteString(typing, "hi\r") }()
	var out bytes.Buffer
	e, err := terminal.OpenEditor(in, &out, &terminal.History{})
	if err != nil {
		t.Fatal(err)
	}
	c := New(Options{Engine: p, Model: "m", Screen: Screen{Answers: e, Notes: e, Person: true}})
	if err := c.Loop(t.Context(), e, Program{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"user: again", "assistant: answer"}, said(c.turns)); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
}
