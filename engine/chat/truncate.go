package chat

import (
	"context"
	"slices"
	"sort"

	"github.com/diglot/diglot/engine"
)

// answerShare is the part of the context that a shortened conversation leaves
// for the answer, unless the request wants less: one that just fits would
// leave a word or two. More than a quarter would drop turns for room that few
// answers use, since agents ask for far more tokens than they need.
const answerShare = 4

// crowded says whether the prompt leaves too little room for the answer. err
// is what reading it gave.
func (e *Engine) crowded(p *plan, err error) bool {
	if err != nil {
		return engine.AsError(err).Code == engine.CodeContextLength
	}
	room := e.info.Context / answerShare
	if p.request.MaxTokens != nil {
		room = min(room, *p.request.MaxTokens)
	}
	return len(p.prompt)+max(1, room) > e.info.Context
}

// truncate leaves out as few of the oldest turns as makes room for the answer,
// or all that may go. What is left may still be too long. Fewer turns make
// fewer tokens, so that few attempts are enough for a long conversation.
func (e *Engine) truncate(ctx context.Context, p *plan) error {
	whole := p.request
	turns := oldTurns(whole.Messages)
	attempt := func(n int) error {
		gone := map[int]bool{}
		for _, i := range slices.Concat(turns[:n]...) {
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
				s.Image.Message = kept[s.Image.Message] // errors name places of the whole request
			}
		}
		return e.read(ctx, p, rendering)
	}
	n := sort.Search(len(turns), func(n int) bool {
		err := attempt(n + 1)
		return err == nil && !e.crowded(p, nil)
	})
	return attempt(min(n+1, len(turns)))
}

// oldTurns lists the messages that may be left out, oldest first, in groups
// that go together: what a user said with what followed, and behind the last
// user message, which stays, each step of the assistant. Results go with their
// calls. Instructions stay, and so does the step that the conversation ends
// with, which is what the model is to go on from.
func oldTurns(messages []engine.Message) [][]int {
	last, end := -1, -1
	for i, m := range messages {
		if m.Role == engine.RoleUser {
			last = i
		}
		if !isSystem(m.Role) {
			end = i
		}
	}
	var groups [][]int
	callers := map[string]int{} // groups by the ids of their calls
	for i, m := range messages {
		if isSystem(m.Role) || i == last {
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
