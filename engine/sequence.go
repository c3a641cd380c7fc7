package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Sequence validates the events of one reply against the grammar in the
// package comment and against its request. It is for tests of engines, and for
// callers that do not trust one.
type Sequence struct {
	request       *Request // nil: unknown
	started, done bool
	prompt        int
	choices       map[int]*progress
}

// progress is the state of one choice.
type progress struct {
	next        int // index of the next block
	open        BlockKind
	ids         map[string]bool // of the tool calls
	noArguments bool            // the last tool call has no arguments so far
	unechoed    int             // bytes of the echoed prompt that no token has covered
	finished    bool
}

// NewSequence returns a Sequence for the reply to req; nil: the request is
// unknown.
func NewSequence(req *Request) *Sequence {
	return &Sequence{request: req, choices: map[int]*progress{}}
}

// Limits of a reply, beside those of its request.
const (
	maxBlocks = 1 << 16 // per choice
	maxTokens = 1 << 40 // in any count
	maxLegal  = 128     // bytes of a tool name or a call id
)

// Add validates the next event.
func (s *Sequence) Add(event Event) error {
	if s.done {
		return fmt.Errorf("%T after Done", event)
	}
	if start, ok := event.(Start); ok {
		return s.start(start)
	}
	if !s.started {
		return fmt.Errorf("%T before Start", event)
	}
	switch e := event.(type) {
	case BlockStart:
		return s.blockStart(e)
	case TextDelta:
		if err := s.delta(e.Choice, e.Index, BlockText, e.Text); err != nil {
			return err
		}
		return s.logprobs(s.choices[e.Choice], e.Logprobs)
	case ReasoningDelta:
		return s.delta(e.Choice, e.Index, BlockReasoning, e.Text)
	case ToolCallDelta:
		if err := s.delta(e.Choice, e.Index, BlockToolCall, e.Arguments); err != nil {
			return err
		}
		s.choices[e.Choice].noArguments = false
		return nil
	case BlockStop:
		return s.blockStop(e)
	case Finish:
		return s.finish(e)
	case Done:
		return s.end(e)
	}
	return fmt.Errorf("unknown event %T", event)
}

// End reports an error unless the sequence is complete.
func (s *Sequence) End() error {
	if !s.done {
		return errors.New("the sequence ends without Done")
	}
	return nil
}

func (s *Sequence) start(e Start) error {
	if s.started {
		return errors.New("a second Start")
	}
	s.started, s.prompt = true, e.PromptTokens
	switch {
	case !isCount(e.PromptTokens):
		return fmt.Errorf("%d prompt tokens", e.PromptTokens)
	case !isCount(e.Dropped) || s.request != nil && e.Dropped > len(s.request.Messages):
		return fmt.Errorf("%d messages dropped", e.Dropped)
	}
	for _, p := range e.Unenforced {
		if s.request == nil {
			break
		}
		if err := p.Check(s.request.Extent()); err != nil {
			return fmt.Errorf("unenforced: %w", err)
		}
	}
	for _, name := range e.Ignored {
		if !isLegal(name) {
			return fmt.Errorf("invalid ignored parameter %q", name)
		}
	}
	return e.Used.check()
}

func (u *Used) check() error {
	for p := range SamplingParams() {
		if !p.InRange(&u.Sampling) {
			return fmt.Errorf("%s is used with %v", p.Name, p.Get(&u.Sampling))
		}
	}
	if u.MaxTokens != nil && !isCount(*u.MaxTokens) {
		return fmt.Errorf("%d tokens at most", *u.MaxTokens)
	}
	if u.Reasoning.check() != nil {
		return fmt.Errorf("the reasoning %+v", u.Reasoning)
	}
	return nil
}

// isCount reports whether n is plausible as a count.
func isCount(n int) bool { return n >= 0 && n <= maxTokens }

// isLegal reports whether every style accepts s as a tool name, and as a call
// id after its own prefix.
func isLegal(s string) bool {
	return s != "" && len(s) <= maxLegal && !strings.ContainsFunc(s, isIllegal)
}

// isOther reports whether r is not allowed in names and ids.
func isIllegal(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		return false
	}
	return true
}

// wanted returns the number of choices; 0: unknown.
func (s *Sequence) wanted() int {
	if s.request == nil {
		return 0
	}
	return max(s.request.Choices, 1)
}

// at returns the state of choice i, which must not have finished.
func (s *Sequence) at(i int) (*progress, error) {
	if i < 0 || i >= MaxChoices || s.request != nil && i >= s.wanted() {
		return nil, fmt.Errorf("choice %d of %d", i, s.wanted())
	}
	if s.choices[i] == nil {
		s.choices[i] = &progress{ids: map[string]bool{}, unechoed: s.echo()}
	}
	if s.choices[i].finished {
		return nil, fmt.Errorf("choice %d goes on after its Finish", i)
	}
	return s.choices[i], nil
}

// echo returns how many bytes of echoed prompt a choice begins with. If the
// request is unknown, the first text delta may be an echo.
func (s *Sequence) echo() int {
	switch {
	case s.request == nil:
		return math.MaxInt
	case s.request.Prompt == nil || !s.request.Prompt.Echo:
		return 0
	}
	return len(s.request.Prompt.Text)
}

func (s *Sequence) blockStart(e BlockStart) error {
	p, err := s.at(e.Choice)
	switch {
	case err != nil:
		return err
	case p.open != "":
		return fmt.Errorf("block %d starts inside another", e.Index)
	case e.Index != p.next || e.Index >= maxBlocks:
		return fmt.Errorf("block %d starts where %d is next", e.Index, p.next)
	case p.noArguments:
		return errors.New("a call without arguments is not the last block")
	}
	p.open = e.Kind
	switch e.Kind {
	case BlockText, BlockReasoning:
		if e.CallID != "" || e.Name != "" {
			return fmt.Errorf("a block of %s with a call's id or name", e.Kind)
		}
		return nil
	case BlockToolCall:
		return s.call(p, e)
	}
	return fmt.Errorf("unknown kind of block %q", e.Kind)
}

// call validates the start of a tool call, which must be of a tool in the
// request.
func (s *Sequence) call(p *progress, e BlockStart) error {
	switch {
	case !isLegal(e.CallID):
		return fmt.Errorf("a call with the id %q", e.CallID)
	case p.ids[e.CallID]:
		return fmt.Errorf("two calls with the id %q", e.CallID)
	case s.request == nil && e.Name == "", s.request != nil && !s.request.hasTool(e.Name):
		return fmt.Errorf("a call of the unknown tool %q", e.Name)
	}
	p.ids[e.CallID], p.noArguments = true, true
	return nil
}

func (r *Request) hasTool(name string) bool {
	return slices.ContainsFunc(r.Tools, func(t Tool) bool { return t.Name == name })
}

func (s *Sequence) delta(choice, index int, kind BlockKind, text string) error {
	p, err := s.at(choice)
	switch {
	case err != nil:
		return err
	case p.open != kind:
		return fmt.Errorf("a delta of %s where the open block is %q", kind, p.open)
	case index != p.next:
		return fmt.Errorf("a delta of block %d inside block %d", index, p.next)
	case text == "":
		return fmt.Errorf("an empty delta of %s", kind)
	case !utf8.ValidString(text):
		return fmt.Errorf("a delta with invalid UTF-8: %q", cut(text))
	}
	return nil
}

// logprobs validates the tokens of a delta. Only echoed tokens may have an
// unknown probability.
func (s *Sequence) logprobs(p *progress, tokens []TokenLogprob) error {
	if s.request != nil && s.request.Logprobs == nil && len(tokens) > 0 {
		return errors.New("logprobs that were not requested")
	}
	for _, t := range tokens {
		isUnknown := math.IsNaN(t.Logprob) && p.unechoed > 0
		p.unechoed -= len(t.Token)
		if !isUnknown && !isLogprob(t.Logprob) {
			return fmt.Errorf("token %q has the logprob %v", t.Token, t.Logprob)
		}
		if s.request != nil && len(t.Top) > *s.request.Logprobs {
			return fmt.Errorf("%d alternatives of a token, %d were requested", len(t.Top), *s.request.Logprobs)
		}
		if err := t.checkTop(); err != nil {
			return err
		}
	}
	if s.request == nil {
		p.unechoed = 0
	}
	return nil
}

func (t TokenLogprob) checkTop() error {
	for _, alternative := range t.Top {
		if alternative.Top != nil {
			return fmt.Errorf("an alternative of token %q has alternatives", t.Token)
		}
		if !isLogprob(alternative.Logprob) {
			return fmt.Errorf("an alternative of token %q has the logprob %v", t.Token, alternative.Logprob)
		}
	}
	return nil
}

func isLogprob(l float64) bool { return l <= 0 && !math.IsInf(l, -1) }

func (s *Sequence) blockStop(e BlockStop) error {
	p, err := s.at(e.Choice)
	if err != nil {
		return err
	}
	if p.open == "" || e.Index != p.next {
		return fmt.Errorf("BlockStop for block %d, which is not open", e.Index)
	}
	p.open = ""
	p.next++
	return nil
}

func (s *Sequence) finish(e Finish) error {
	p, err := s.at(e.Choice)
	if err != nil {
		return err
	}
	if p.open != "" {
		return errors.New("a Finish inside a block")
	}
	if p.noArguments && e.Reason == FinishToolCalls {
		return errors.New("a complete call without arguments")
	}
	p.finished = true
	switch e.Reason {
	case FinishEndOfTurn:
		if len(p.ids) > 0 {
			return errors.New("end_of_turn after a tool call")
		}
	case FinishToolCalls:
		if len(p.ids) == 0 {
			return errors.New("tool_calls without a call")
		}
	case FinishStopSequence:
		if s.request != nil && !slices.Contains(s.request.Stop, e.StopSequence) {
			return fmt.Errorf("a stop sequence %q that was not requested", cut(e.StopSequence))
		}
	case FinishMaxTokens:
	default:
		return fmt.Errorf("unknown reason %q", e.Reason)
	}
	if (e.StopSequence != "") != (e.Reason == FinishStopSequence) {
		return fmt.Errorf("reason %q with the stop sequence %q", e.Reason, cut(e.StopSequence))
	}
	return nil
}

func (s *Sequence) end(e Done) error {
	if len(s.choices) == 0 || s.request != nil && len(s.choices) != s.wanted() {
		return fmt.Errorf("a Done without a choice: there are %d of %d", len(s.choices), s.wanted())
	}
	for i, p := range s.choices {
		if !p.finished {
			return fmt.Errorf("a Done, but choice %d has not finished", i)
		}
		if i >= len(s.choices) {
			return fmt.Errorf("choice %d of %d", i, len(s.choices))
		}
	}
	s.done = true
	u := e.Usage
	switch {
	case u.PromptTokens != s.prompt && s.prompt != 0: // 0: not known before the end
		return fmt.Errorf("%d prompt tokens at the end, %d at the start", u.PromptTokens, s.prompt)
	case !isCount(u.PromptTokens) || !isCount(u.CompletionTokens):
		return fmt.Errorf("%d prompt tokens and %d completion tokens", u.PromptTokens, u.CompletionTokens)
	case u.CachedTokens < 0 || u.CachedTokens > u.PromptTokens:
		return fmt.Errorf("%d of %d prompt tokens cached", u.CachedTokens, u.PromptTokens)
	case u.ReasoningTokens < 0 || u.ReasoningTokens > u.CompletionTokens:
		return fmt.Errorf("%d of %d tokens spent on reasoning", u.ReasoningTokens, u.CompletionTokens)
	}
	return nil
}
