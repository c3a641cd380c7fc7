package engine

import (
	"fmt"
	"iter"
	"strings"
)

// Response is a complete reply.
type Response struct {
	PromptTokens int
	Unenforced   []Place  // as in Start
	Used         Used     // as in Start
	Choices      []Choice // by index
	Usage        Usage
}

// Choice is one of the answers to a request.
type Choice struct {
	Blocks       []Block
	Reason       FinishReason
	StopSequence string
}

// Block is a complete block of an answer.
type Block struct {
	Kind      BlockKind
	Text      string // of a text or reasoning block
	CallID    string // of a tool call
	Name      string
	Arguments string         // JSON text
	Logprobs  []TokenLogprob // of a text block, if requested
}

// Collect folds a sequence of events into a reply. It returns the sequence's
// error, if there is one, and fails for events that do not fit together.
func Collect(events iter.Seq2[Event, error]) (*Response, error) {
	var f folder
	for event, err := range events {
		if err == nil {
			err = f.add(event)
		}
		if err != nil {
			return nil, err
		}
	}
	return &f.response, nil
}

// folder has a strings.Builder for each open block: appending every delta to
// a string would copy a long answer once per token.
type folder struct {
	response Response
	open     []*strings.Builder // by choice; nil: no block is open
}

func (f *folder) add(event Event) error {
	switch e := event.(type) {
	case Start:
		f.response.PromptTokens, f.response.Unenforced, f.response.Used = e.PromptTokens, e.Unenforced, e.Used
	case BlockStart:
		c, err := f.choice(e.Choice)
		if err != nil {
			return err
		}
		c.Blocks = append(c.Blocks, Block{Kind: e.Kind, CallID: e.CallID, Name: e.Name})
		f.open[e.Choice] = new(strings.Builder)
	case TextDelta:
		return f.write(e.Choice, e.Text, e.Logprobs)
	case ReasoningDelta:
		return f.write(e.Choice, e.Text, nil)
	case ToolCallDelta:
		return f.write(e.Choice, e.Arguments, nil)
	case BlockStop:
		return f.close(e.Choice)
	case Finish:
		c, err := f.choice(e.Choice)
		if err != nil {
			return err
		}
		c.Reason, c.StopSequence = e.Reason, e.StopSequence
	case Done:
		f.response.Usage = e.Usage
		if f.response.PromptTokens == 0 { // known at the end only
			f.response.PromptTokens = e.Usage.PromptTokens
		}
	}
	return nil
}

// choice returns choice i, adding those up to it.
func (f *folder) choice(i int) (*Choice, error) {
	if i < 0 || i >= MaxChoices {
		return nil, AsError(fmt.Errorf("choice %d of %d", i, MaxChoices))
	}
	for len(f.response.Choices) <= i {
		f.response.Choices = append(f.response.Choices, Choice{})
		f.open = append(f.open, nil)
	}
	return &f.response.Choices[i], nil
}

// block returns the open block of a choice and its text.
func (f *folder) block(choice int) (*Block, *strings.Builder, error) {
	if choice < 0 || choice >= len(f.open) || f.open[choice] == nil {
		return nil, nil, AsError(fmt.Errorf("choice %d has no open block", choice))
	}
	blocks := f.response.Choices[choice].Blocks
	return &blocks[len(blocks)-1], f.open[choice], nil
}

func (f *folder) write(choice int, text string, tokens []TokenLogprob) error {
	b, builder, err := f.block(choice)
	if err != nil {
		return err
	}
	builder.WriteString(text)
	b.Logprobs = append(b.Logprobs, tokens...)
	return nil
}

func (f *folder) close(choice int) error {
	b, text, err := f.block(choice)
	if err != nil {
		return err
	}
	f.open[choice] = nil
	if b.Kind == BlockToolCall {
		b.Arguments = text.String()
		return nil
	}
	b.Text = text.String()
	return nil
}
