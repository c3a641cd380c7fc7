package chat

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/prompt"
)

// conversationOf makes messages of words such as "user", "call:1" and
// "result:1", each of ten words.
func conversationOf(turns string) []engine.Message {
	var messages []engine.Message
	for i, word := range strings.Fields(turns) {
		role, id, _ := strings.Cut(word, ":")
		m := engine.Message{Role: engine.Role(role)}
		text := engine.Text{Text: fmt.Sprintf("turn-%d", i) + strings.Repeat(" w", 8)}
		switch role {
		case "call":
			m.Role = engine.RoleAssistant
			m.Parts = []engine.Part{text, engine.ToolCall{ID: id, Name: "f"}}
		case "result":
			m.Role = engine.RoleTool
			m.Parts = []engine.Part{engine.ToolResult{CallID: id, Name: "f", Parts: []engine.Part{text}}}
		default:
			m.Parts = []engine.Part{text}
		}
		messages = append(messages, m)
	}
	return messages
}

func TestOldTurns(t *testing.T) {
	tests := []struct {
		name, turns string
		want        [][]int
	}{
		{"nothing", "", nil},
		{"the last user message stays", "user", nil},
		{"with its instructions", "system user developer", nil},
		{"a user and the answer go together", "user assistant user", [][]int{{0, 1}}},
		{"instructions stay where they are", "system user developer assistant user", [][]int{{1, 3}}},
		{"oldest first", "user assistant user assistant user", [][]int{{0, 1}, {2, 3}}},
		{"an answer before all users", "assistant user assistant user", [][]int{{0}, {1, 2}}},
		{"two user messages in a row", "user user assistant user", [][]int{{0}, {1, 2}}},
		{"results go with their calls", "user call:1 result:1 assistant user", [][]int{{0, 1, 2, 3}}},
		{"the last step stays", "user call:1 result:1 call:2 result:2", [][]int{{1, 2}}},
		{"behind it instructions, too", "user call:1 result:1 call:2 result:2 system", [][]int{{1, 2}}},
		{"an answer that is to go on stays", "user assistant user assistant", [][]int{{0, 1}}},
		{"a result behind the next user message", "user call:1 user result:1", nil},
		{"and a step behind that", "user call:1 user result:1 call:2 result:2", [][]int{{0, 1, 3}}},
		{"no user at all", "call:1 result:1 call:2 result:2", [][]int{{0, 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := droppableTurns(conversationOf(tt.turns))
			if len(got) == 0 {
				got = nil
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tt.turns, diff)
			}
		})
	}
}

// TestTruncate holds what is left of a conversation of ten tokens a turn.
func TestTruncate(t *testing.T) {
	tests := []struct {
		name, turns string
		context     int
		max         *int // tokens of the answer
		refuse      bool // the request does not allow it
		want        string
		dropped     int
		long        int // tokens of the prompt that is refused; 0: it is not
	}{
		{name: "fits", turns: "user assistant user", context: 40, want: "0 1 2"},
		{name: "fits, but leaves no quarter", turns: "user assistant user", context: 38, want: "2", dropped: 2},
		{name: "and none is wanted", turns: "user assistant user", context: 35, max: new(5), want: "0 1 2"},
		{name: "more is wanted than a quarter", turns: "user assistant user", context: 40, max: new(20), want: "0 1 2"},
		{name: "as few turns as will do", turns: "user assistant user assistant user assistant user", context: 41, want: "4 5 6", dropped: 4},
		{name: "instructions stay", turns: "system user assistant user assistant user", context: 56, want: "0 3 4 5", dropped: 2},
		{name: "a long loop of calls", turns: "user call:1 result:1 call:2 result:2 call:3 result:3 call:4 result:4", context: 40, want: "0 5 7", dropped: 4},
		{name: "less room than a quarter, if nothing more may go", turns: "user assistant user", context: 12, want: "2", dropped: 2},
		{name: "nothing may go", turns: "system user", context: 20, long: 20},
		{name: "too long without all that may go", turns: "system user assistant user", context: 20, long: 20},
		{name: "not allowed", turns: "user assistant user", context: 20, refuse: true, long: 30},
		{name: "not allowed, and not needed", turns: "user assistant user", context: 31, refuse: true, want: "0 1 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &fakeModel{info: Info{Context: tt.context}, pieces: []string{"x"}, end: EndOfTurn}
			req := testRequest()
			req.Messages, req.MaxTokens, req.Truncate = conversationOf(tt.turns), tt.max, !tt.refuse
			var start engine.Start
			for event, err := range testEngine("plain", "", m).Generate(t.Context(), req) {
				if err != nil {
					if e := engine.AsError(err); e.Code != engine.CodeContextLength || e.Tokens != tt.long {
						t.Fatalf("error %v for %d tokens, want one for %d", err, e.Tokens, tt.long)
					}
					return
				}
				if s, ok := event.(engine.Start); ok {
					start = s
				}
			}
			if tt.long > 0 {
				t.Fatalf("no error; the prompt is %q", start.Prompt)
			}
			var left []string
			for word := range strings.FieldsSeq(start.Prompt) {
				if number, ok := strings.CutPrefix(word, "turn-"); ok {
					left = append(left, number)
				}
			}
			if got := strings.Join(left, " "); got != tt.want || start.Dropped != tt.dropped {
				t.Errorf("left are %q, %d were dropped; want %q and %d", got, start.Dropped, tt.want, tt.dropped)
			}
			if n := len(conversationOf(tt.turns)); len(req.Messages) != n {
				t.Errorf("the caller's request has %d messages left of %d", len(req.Messages), n)
			}
		})
	}
}

// counting counts the prompts that it reads.
type counting struct {
	fakeModel
	prompts int
	words   int // in all of them
}

func (m *counting) Tokenize(ctx context.Context, p prompt.Prompt) ([]int32, error) {
	tokens, err := m.fakeModel.Tokenize(ctx, p)
	m.prompts++
	m.words += len(tokens)
	return tokens, err
}

// TestTruncateWork bounds how often a long conversation is read, however its
// words lie, and holds that no turn goes that need not.
func TestTruncateWork(t *testing.T) {
	const turns, contextSize = 2000, 1000
	shapes := map[string]func(i int) string{
		"even":             func(int) string { return strings.Repeat("w ", 10) },
		"short at first":   func(i int) string { return strings.Repeat("w ", 1+i/100) },
		"long at first":    func(i int) string { return strings.Repeat("w ", 1+(turns-i)/100) },
		"long words early": func(i int) string { return strings.Repeat(strings.Repeat("w", 1+(turns-i)/50)+" ", 10) },
		"long words late":  func(i int) string { return strings.Repeat(strings.Repeat("w", 1+i/50)+" ", 10) },
		"one very long":    func(i int) string { return strings.Repeat("w ", 1+900*min(1, i%1700/1690)) },
		"all in one": func(i int) string {
			if i == 0 {
				return strings.Repeat("w ", 5000)
			}
			return ""
		},
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			req := testRequest()
			req.Messages, req.Truncate = nil, true
			for i := range turns {
				req.Messages = append(req.Messages, userParts(engine.Text{Text: shape(i)}))
			}
			m := &counting{fakeModel: fakeModel{info: Info{Context: contextSize}, pieces: []string{"x"}, end: EndOfTurn}}
			e := testEngine("plain", "", &m.fakeModel)
			e.model = m
			p, err := e.prepare(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if m.prompts > maxAttempts+2 {
				t.Errorf("%d prompts were read, with %d words", m.prompts, m.words)
			}
			t.Logf("%d prompts, %d words, %d turns left out", m.prompts, m.words, p.start.Dropped)
			one := new(*p)
			if err := e.dropTurns(t.Context(), one, req, droppableTurns(req.Messages)[:p.start.Dropped-1]); err == nil && !e.crowded(one, nil) {
				t.Errorf("%d turns were left out, and one fewer would do", p.start.Dropped)
			}
		})
	}
}

// TestTruncateEnds holds that the search ends with its request.
func TestTruncateEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := &counting{fakeModel: fakeModel{info: Info{Context: 40}}}
	e := testEngine("plain", "", &m.fakeModel)
	e.model = leaving{m, cancel}
	req := testRequest()
	req.Messages, req.Truncate = conversationOf(strings.Repeat("user assistant ", 100)+"user"), true
	if _, err := e.prepare(ctx, req); engine.AsError(err).Code != engine.CodeCanceled || m.prompts > 2 {
		t.Errorf("%d prompts, error %v", m.prompts, err)
	}
}

// leaving is a model whose client leaves while the second prompt is read.
type leaving struct {
	*counting
	leave func()
}

func (m leaving) Tokenize(ctx context.Context, p prompt.Prompt) ([]int32, error) {
	if m.prompts == 1 {
		m.leave()
	}
	return m.counting.Tokenize(ctx, p)
}
