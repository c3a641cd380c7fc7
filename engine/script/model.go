package script

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/prompt"
)

// Model is one model of a script. It implements [chat.Model].
type Model struct {
	info    chat.Info
	replies []reply
	draws   bool // only generates test cards
	closed  chan struct{}
	close   sync.Once
}

var _ chat.Model = (*Model)(nil)

// Values of finish.
const (
	finishStop   = "stop"
	finishLength = "length"
	finishCrash  = "crash"
	finishStall  = "stall"
)

type reply struct {
	contains     string // must be in the last user or tool text, or the raw prompt
	pieces       []piece
	finish       string
	promptTokens *int // nil: the number of words in the prompt
}

// piece is a token, or a pause before the next one.
type piece struct {
	text  []byte // nil: a pause
	sleep time.Duration
}

// Info implements [chat.Model].
func (m *Model) Info() chat.Info { return m.info }

// Writes reports whether the model generates text.
func (m *Model) Writes() bool { return !m.draws && !m.info.Vectors.Only }

// Close implements [chat.Model].
func (m *Model) Close() error {
	m.close.Do(func() { close(m.closed) })
	return nil
}

// Tokenize implements [chat.Model]. A script has no vocabulary; only the number
// of tokens matters: prompt_tokens of the matching reply, or the number of words
// in the prompt.
func (m *Model) Tokenize(_ context.Context, prompt prompt.Prompt) ([]int32, error) {
	if prompt.Request != nil {
		i, err := m.pick(prompt.Request)
		if err != nil {
			return nil, err
		}
		if n := m.replies[i].promptTokens; n != nil {
			return make([]int32, *n), nil
		}
	}
	return make([]int32, len(strings.Fields(prompt.String()))), nil
}

// pick returns the index of the first reply that matches req. The error is for
// the author of the script, who usually is the client.
func (m *Model) pick(req *engine.Request) (int, error) {
	said, name, place := matchText(req)
	for i, r := range m.replies {
		if strings.Contains(said, r.contains) {
			return i, nil
		}
	}
	return 0, engine.Errorf(engine.CodeInvalidArgument, "No reply of the script matches: the %s contains none of the strings that the replies of model %q match.", name, m.info.Name).
		At(place)
}

// matchText returns the text to match, its name, and its place in the request.
func matchText(req *engine.Request) (text, name string, place engine.Place) {
	if req.Prompt != nil {
		return req.Prompt.Text, "prompt", engine.Place{Field: engine.FieldPrompt}
	}
	place = engine.Place{Field: engine.FieldMessages, Index: max(len(req.Messages)-1, 0)}
	return lastText(req.Messages), "last user or tool text", place
}

// lastText returns the text of the last user or tool message that has some.
func lastText(messages []engine.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		if m.Role != engine.RoleUser && m.Role != engine.RoleTool {
			continue
		}
		if s := partsText(m.Parts); s != "" {
			return s
		}
	}
	return ""
}

func partsText(parts []engine.Part) string {
	var lines []string
	for _, p := range parts {
		switch p := p.(type) {
		case engine.Text:
			lines = append(lines, p.Text)
		case engine.ToolResult:
			lines = append(lines, partsText(p.Parts))
		}
	}
	return strings.Join(lines, "\n")
}
