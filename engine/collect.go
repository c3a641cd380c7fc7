package engine

import "iter"

// Response is a whole reply.
type Response struct {
	PromptTokens int
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
	var r Response
	for event, err := range events {
		if err != nil {
			return nil, err
		}
		r.add(event)
	}
	return &r, nil
}

func (r *Response) add(event Event) {
	switch e := event.(type) {
	case Start:
		r.PromptTokens = e.PromptTokens
	case BlockStart:
		c := r.choice(e.Choice)
		c.Blocks = append(c.Blocks, Block{Kind: e.Kind, CallID: e.CallID, Name: e.Name})
	case TextDelta:
		b := r.choice(e.Choice).last()
		b.Text += e.Text
		b.Logprobs = append(b.Logprobs, e.Logprobs...)
	case ReasoningDelta:
		r.choice(e.Choice).last().Text += e.Text
	case ToolCallDelta:
		r.choice(e.Choice).last().Arguments += e.Arguments
	case Finish:
		c := r.choice(e.Choice)
		c.Reason, c.StopSequence = e.Reason, e.StopSequence
	case Done:
		r.Usage = e.Usage
	}
}

func (r *Response) choice(i int) *Choice {
	for len(r.Choices) <= i {
		r.Choices = append(r.Choices, Choice{})
	}
	return &r.Choices[i]
}

func (c *Choice) last() *Block { return &c.Blocks[len(c.Blocks)-1] }
