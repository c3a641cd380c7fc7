package enginetest

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/diglot/diglot/engine"
)

// Check says whether events are one whole reply that succeeded, by the
// grammar in the documentation of package engine. The error names the place
// of the first event that is wrong.
func Check(events []engine.Event) error {
	var c Checker
	for i, e := range events {
		if err := c.Add(e); err != nil {
			return fmt.Errorf("event %d: %w", i, err)
		}
	}
	return c.End()
}

// Checker checks a sequence of events one by one. The zero value is ready.
type Checker struct {
	started, done bool
	prompt        int
	choices       map[int]*choice
}

// choice is how far one choice has come.
type choice struct {
	next     int // index of the next block
	open     engine.BlockKind
	calls    int
	bare     bool // a call has no arguments so far
	ids      map[string]bool
	spoken   bool // a delta of text came
	finished bool
}

// Add checks the next event.
func (c *Checker) Add(event engine.Event) error {
	if c.done {
		return fmt.Errorf("%T after Done", event)
	}
	if start, ok := event.(engine.Start); ok {
		return c.start(start)
	}
	if !c.started {
		return fmt.Errorf("%T before Start", event)
	}
	switch e := event.(type) {
	case engine.BlockStart:
		return c.blockStart(e)
	case engine.TextDelta:
		if err := c.delta(e.Choice, e.Index, engine.BlockText, e.Text); err != nil {
			return err
		}
		first := !c.choices[e.Choice].spoken
		c.choices[e.Choice].spoken = true
		return checkLogprobs(e.Logprobs, first)
	case engine.ReasoningDelta:
		return c.delta(e.Choice, e.Index, engine.BlockReasoning, e.Text)
	case engine.ToolCallDelta:
		if err := c.delta(e.Choice, e.Index, engine.BlockToolCall, e.Arguments); err != nil {
			return err
		}
		c.choices[e.Choice].bare = false
		return nil
	case engine.BlockStop:
		return c.blockStop(e)
	case engine.Finish:
		return c.finish(e)
	case engine.Done:
		return c.end(e)
	}
	return fmt.Errorf("unknown event %T", event)
}

// End checks that the sequence is complete.
func (c *Checker) End() error {
	if !c.done {
		return errors.New("the sequence ends without Done")
	}
	return nil
}

func (c *Checker) start(e engine.Start) error {
	if c.started {
		return errors.New("a second Start")
	}
	c.started, c.prompt, c.choices = true, e.PromptTokens, map[int]*choice{}
	if e.PromptTokens < 0 {
		return fmt.Errorf("%d prompt tokens", e.PromptTokens)
	}
	return nil
}

// at is the choice of an event, which must not have ended.
func (c *Checker) at(i int) (*choice, error) {
	if i < 0 {
		return nil, fmt.Errorf("choice %d", i)
	}
	if c.choices[i] == nil {
		c.choices[i] = &choice{ids: map[string]bool{}}
	}
	if c.choices[i].finished {
		return nil, fmt.Errorf("choice %d goes on after its Finish", i)
	}
	return c.choices[i], nil
}

func (c *Checker) blockStart(e engine.BlockStart) error {
	ch, err := c.at(e.Choice)
	if err != nil {
		return err
	}
	if ch.open != "" {
		return fmt.Errorf("block %d starts inside another", e.Index)
	}
	if e.Index != ch.next {
		return fmt.Errorf("block %d starts where %d is next", e.Index, ch.next)
	}
	if ch.bare {
		return errors.New("a call without arguments is not the last block")
	}
	ch.open = e.Kind
	switch e.Kind {
	case engine.BlockText, engine.BlockReasoning:
		if e.CallID != "" || e.Name != "" {
			return fmt.Errorf("a block of %s with a call's id or name", e.Kind)
		}
	case engine.BlockToolCall:
		ch.calls++
		ch.bare = true
		if e.CallID == "" || e.Name == "" {
			return errors.New("a call without id or name")
		}
		if ch.ids[e.CallID] {
			return fmt.Errorf("two calls with the id %q", e.CallID)
		}
		ch.ids[e.CallID] = true
	default:
		return fmt.Errorf("unknown kind of block %q", e.Kind)
	}
	return nil
}

func (c *Checker) delta(choice, index int, kind engine.BlockKind, text string) error {
	ch, err := c.at(choice)
	switch {
	case err != nil:
		return err
	case ch.open != kind:
		return fmt.Errorf("a delta of %s where the open block is %q", kind, ch.open)
	case index != ch.next:
		return fmt.Errorf("a delta of block %d inside block %d", index, ch.next)
	case text == "":
		return fmt.Errorf("an empty delta of %s", kind)
	case !utf8.ValidString(text):
		return fmt.Errorf("a delta that is no UTF-8: %q", text)
	}
	return nil
}

// checkLogprobs checks the tokens of a delta. Only the first delta of an
// answer, which may be a prompt, may have tokens of unknown probability.
func checkLogprobs(tokens []engine.TokenLogprob, first bool) error {
	for _, t := range tokens {
		if t.Logprob > 0 || math.IsNaN(t.Logprob) && !first {
			return fmt.Errorf("token %q has the log probability %v", t.Token, t.Logprob)
		}
		for _, alternative := range t.Top {
			if alternative.Top != nil {
				return fmt.Errorf("an alternative of token %q has alternatives", t.Token)
			}
		}
	}
	return nil
}

func (c *Checker) blockStop(e engine.BlockStop) error {
	ch, err := c.at(e.Choice)
	if err != nil {
		return err
	}
	if ch.open == "" || e.Index != ch.next {
		return fmt.Errorf("block %d stops, which is not open", e.Index)
	}
	ch.open = ""
	ch.next++
	return nil
}

func (c *Checker) finish(e engine.Finish) error {
	ch, err := c.at(e.Choice)
	if err != nil {
		return err
	}
	if ch.open != "" {
		return errors.New("a Finish inside a block")
	}
	if ch.bare && e.Reason == engine.FinishToolCalls {
		return errors.New("a call without arguments, which is not cut")
	}
	ch.finished = true
	switch e.Reason {
	case engine.FinishEndOfTurn:
		if ch.calls > 0 {
			return errors.New("end_of_turn after a tool call")
		}
	case engine.FinishToolCalls:
		if ch.calls == 0 {
			return errors.New("tool_calls without a call")
		}
	case engine.FinishStopSequence, engine.FinishMaxTokens:
	default:
		return fmt.Errorf("unknown reason %q", e.Reason)
	}
	if (e.StopSequence != "") != (e.Reason == engine.FinishStopSequence) {
		return fmt.Errorf("reason %q with the stop sequence %q", e.Reason, e.StopSequence)
	}
	return nil
}

func (c *Checker) end(e engine.Done) error {
	if len(c.choices) == 0 {
		return errors.New("a Done without a choice")
	}
	for i, ch := range c.choices {
		if !ch.finished {
			return fmt.Errorf("a Done, but choice %d has not finished", i)
		}
		if i >= len(c.choices) {
			return fmt.Errorf("choice %d of %d", i, len(c.choices))
		}
	}
	c.done = true
	u := e.Usage
	switch {
	case u.PromptTokens != c.prompt && c.prompt != 0: // 0: not known before the end
		return fmt.Errorf("%d prompt tokens at the end, %d at the start", u.PromptTokens, c.prompt)
	case u.CachedTokens < 0 || u.CachedTokens > u.PromptTokens:
		return fmt.Errorf("%d of %d prompt tokens cached", u.CachedTokens, u.PromptTokens)
	case u.ReasoningTokens < 0 || u.ReasoningTokens > u.CompletionTokens:
		return fmt.Errorf("%d of %d tokens spent on reasoning", u.ReasoningTokens, u.CompletionTokens)
	}
	return nil
}
