package engine

import (
	"iter"
	"strings"
)

// Response is a whole reply.
type Response struct {
	PromptTokens int
	Unenforced   []Place  // as in Start
	Choices      []Choice // by index
	Usage        Usage
}

// Choice is one of the answers.
type Choice struct {
	Blocks       []Block
	Reason       FinishReason
	StopSequence string
}

// Block is one whole block of an answer.
type Block struct {
	Kind      BlockKind
	Text      string // of a text or reasoning block
	CallID    string // of a tool call
	Name      string
	Arguments string         // JSON text
	Logprobs  []TokenLogprob // of a text block, when asked for
}

// Collect folds a sequence of events into the reply that it describes. It
// returns the first error of the sequence, whatever came before it.
func Collect(events iter.Seq2[Event, error]) (*Response, error) {
	var f folder
	for event, err := range events {
		if err != nil {
			return nil, err
		}
		f.add(event)
	}
	return &f.response, nil
}

// folder collects the text of each open block in a builder of its own:
// adding every delta to a string would copy a long answer once per token.
type folder struct {
	response Response
	open     []*strings.Builder // by choice
}

func (f *folder) add(event Event) {
	switch e := event.(type) {
	case Start:
		f.response.PromptTokens, f.response.Unenforced = e.PromptTokens, e.Unenforced
	case BlockStart:
		c := f.choice(e.Choice)
		c.Blocks = append(c.Blocks, Block{Kind: e.Kind, CallID: e.CallID, Name: e.Name})
		f.open[e.Choice] = new(strings.Builder)
	case TextDelta:
		f.open[e.Choice].WriteString(e.Text)
		b := f.last(e.Choice)
		b.Logprobs = append(b.Logprobs, e.Logprobs...)
	case ReasoningDelta:
		f.open[e.Choice].WriteString(e.Text)
	case ToolCallDelta:
		f.open[e.Choice].WriteString(e.Arguments)
	case BlockStop:
		f.close(e.Choice)
	case Finish:
		c := f.choice(e.Choice)
		c.Reason, c.StopSequence = e.Reason, e.StopSequence
	case Done:
		f.response.Usage = e.Usage
		if f.response.PromptTokens == 0 { // known at the end only
			f.response.PromptTokens = e.Usage.PromptTokens
		}
	}
}

func (f *folder) choice(i int) *Choice {
	for len(f.response.Choices) <= i {
		f.response.Choices = append(f.response.Choices, Choice{})
		f.open = append(f.open, nil)
	}
	return &f.response.Choices[i]
}

func (f *folder) last(choice int) *Block {
	blocks := f.response.Choices[choice].Blocks
	return &blocks[len(blocks)-1]
}

func (f *folder) close(choice int) {
	b := f.last(choice)
	if b.Kind == BlockToolCall {
		b.Arguments = f.open[choice].String()
		return
	}
	b.Text = f.open[choice].String()
}
