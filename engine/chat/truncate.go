package chat

import (
	"context"
	"slices"

	"github.com/diglot/diglot/engine"
)

// answerShare: truncation leaves this fraction of the context, a quarter, for the
// answer, or what the request asks for if that is less. A prompt that just fits
// would leave a word or two, and most answers need no more than a quarter.
const answerShare = 4

// maxAttempts limits the search for the fewest turns to drop. Each attempt renders
// and tokenizes what is left.
const maxAttempts = 16

// crowded reports whether the prompt leaves too few tokens for the answer. err is
// the error of tokenizing it.
func (e *Engine) crowded(p *plan, err error) bool {
	if err != nil {
		return engine.AsError(err).Code == engine.CodeContextLength
	}
	return len(p.prompt)+e.answerRoom(p.request) > e.info.Context
}

// answerRoom is how many tokens truncation leaves for the answer.
func (e *Engine) answerRoom(req *engine.Request) int {
	room := e.info.Context / answerShare
	if req.MaxTokens != nil {
		room = min(room, *req.MaxTokens)
	}
	return max(1, room)
}

// truncate drops the fewest of the oldest turns that leave room for the answer. A
// conversation without those that may go can still be too long. err is the error
// of tokenizing the whole.
//
// The number of turns is estimated from the average bytes per token, which is
// mostly right or off by one; otherwise a binary search follows.
func (e *Engine) truncate(ctx context.Context, p *plan, err error) error {
	whole, turns := p.request, droppableTurns(p.request.Messages)
	tokens := len(p.prompt)
	if err != nil {
		tokens = engine.AsError(err).Tokens
	}
	if len(turns) == 0 {
		return e.dropTurns(ctx, p, whole, nil)
	}
	var fits *plan
	few, enough := 0, len(turns)+1 // turns known to be too few, and known to be enough
	n := estimateTurns(whole.Messages, turns, tokens, tokens+e.answerRoom(whole)-e.info.Context)
	for step := 1; few+1 < enough && few < len(turns); step++ {
		if step > maxAttempts {
			n = len(turns)
		}
		err = e.dropTurns(ctx, p, whole, turns[:n])
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && !e.crowded(p, nil) {
			enough, fits = n, new(*p)
		} else {
			few = n
		}
		if step >= maxAttempts && fits != nil {
			break
		}
		switch {
		case step == 1 && fits != nil:
			n = max(enough-1, 1)
		case step == 1:
			n = min(few+1, len(turns))
		default:
			n = (few + min(enough, len(turns)+1)) / 2
		}
	}
	if fits != nil {
		*p = *fits
		return nil
	}
	return err
}

// estimateTurns estimates how many turns hold the excess tokens, at least 1.
func estimateTurns(messages []engine.Message, turns [][]int, tokens, excess int) int {
	if tokens == 0 {
		return (len(turns) + 1) / 2
	}
	all := 0
	for _, m := range messages {
		all += size(m.Parts)
	}
	gone := 0
	for i, turn := range turns {
		for _, at := range turn {
			gone += size(messages[at].Parts)
		}
		if float64(gone)*float64(tokens) >= float64(excess)*float64(all) {
			return i + 1
		}
	}
	return len(turns)
}

// size estimates the bytes of parts in a prompt.
func size(parts []engine.Part) int {
	n := 8 // special tokens and role
	for _, p := range parts {
		switch p := p.(type) {
		case engine.Text:
			n += len(p.Text)
		case engine.ReasoningText:
			n += len(p.Text)
		case engine.ToolCall:
			n += len(p.Name) + len(p.Arguments)
		case engine.ToolResult:
			n += size(p.Parts)
		case engine.Image:
			n += 1000 // a few hundred tokens
		}
	}
	return n
}

// dropTurns renders and tokenizes the conversation without some turns.
func (e *Engine) dropTurns(ctx context.Context, p *plan, whole *engine.Request, turns [][]int) error {
	gone := map[int]bool{}
	for _, i := range slices.Concat(turns...) {
		gone[i] = true
	}
	short := *whole
	short.Messages = nil
	var kept []int
	for i, m := range whole.Messages {
		if !gone[i] {
			short.Messages, kept = append(short.Messages, m), append(kept, i)
		}
	}
	p.request, p.start.Dropped = &short, len(gone)
	rendering, err := e.render(ctx, &short)
	if err != nil {
		return err
	}
	for _, s := range rendering.Spans {
		if s.Image != nil {
			s.Image.Message = kept[s.Image.Message] // errors name the message in the whole request
		}
	}
	return e.tokenize(ctx, p, rendering)
}

// droppableTurns groups the messages that may be dropped, oldest first. A group is a
// user message with the replies to it, or, after the last user message, one step
// of the assistant. Tool results go with their calls. Instructions, the last user
// message and the last step stay: the model continues from these.
func droppableTurns(messages []engine.Message) [][]int {
	last, end := -1, -1
	for i, m := range messages {
		if m.Role == engine.RoleUser {
			last = i
		}
		if !m.Role.Instructs() {
			end = i
		}
	}
	var groups [][]int
	callers := map[string]int{} // groups by call id
	for i, m := range messages {
		if m.Role.Instructs() || i == last {
			continue
		}
		begins := m.Role == engine.RoleUser || i > last && m.Role == engine.RoleAssistant
		if len(groups) == 0 || begins {
			groups = append(groups, nil)
		}
		group := len(groups) - 1
		for _, part := range m.Parts {
			switch p := part.(type) {
			case engine.ToolCall:
				callers[p.ID] = group
			case engine.ToolResult:
				if caller, ok := callers[p.CallID]; ok {
					group = caller
				}
			}
		}
		groups[group] = append(groups[group], i)
	}
	return slices.DeleteFunc(groups, func(group []int) bool {
		return len(group) == 0 || slices.Max(group) == end
	})
}
