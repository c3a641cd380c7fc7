package engine

// Event is one step of a reply: exactly one of [Start], [BlockStart],
// [TextDelta], [ReasoningDelta], [ToolCallDelta], [BlockStop], [Finish] and
// [Done]; for images [Start], [Preview] and [Drawn].
type Event interface{ event() }

// Start is the first event, sent once the request is admitted and its prompt
// is tokenized, before prefill.
type Start struct {
	PromptTokens int      // 0: known only at the end, as with some upstream servers
	Prompt       string   // rendered, for traces
	Unenforced   []Place  // parts of tool schemas that the grammar cannot enforce
	Ignored      []string // parameters that the serving backend ignores, by Modelfile name, and reasoning_effort
	Dropped      int      // messages dropped by [Request.Truncate]
	Used         Used
}

// Used holds the effective parameters of a generation: those of the request
// that have an effect, and the defaults chosen for it. nil: unknown, as with an
// upstream server.
type Used struct {
	Sampling  Sampling // without LogitBias
	MaxTokens *int     // per choice
	Reasoning Reasoning
	Truncate  bool
}

// BlockKind is the type of content in a block.
type BlockKind string

// The closed list of block kinds.
const (
	BlockText      BlockKind = "text"
	BlockReasoning BlockKind = "reasoning"
	BlockToolCall  BlockKind = "tool_call"
)

// BlockStart opens a block. CallID and Name are set for a tool call.
type BlockStart struct {
	Choice int
	Index  int
	Kind   BlockKind
	CallID string
	Name   string
}

// TextDelta adds text to the open text block: valid UTF-8, never part of a
// stop string.
type TextDelta struct {
	Choice   int
	Index    int
	Text     string
	Logprobs []TokenLogprob // if requested: the tokens of this text
}

// ReasoningDelta adds text to the open reasoning block.
type ReasoningDelta struct {
	Choice int
	Index  int
	Text   string
}

// ToolCallDelta adds a fragment of the arguments' JSON text. A complete call
// has at least one: [NoArguments] if it takes none.
type ToolCallDelta struct {
	Choice    int
	Index     int
	Arguments string
}

// BlockStop closes the open block.
type BlockStop struct {
	Choice int
	Index  int
}

// FinishReason is why a choice ended.
type FinishReason string

// The closed list of finish reasons.
const (
	FinishEndOfTurn    FinishReason = "end_of_turn"
	FinishStopSequence FinishReason = "stop_sequence"
	FinishMaxTokens    FinishReason = "max_tokens" // the request's limit or the end of the context
	FinishToolCalls    FinishReason = "tool_calls"
)

// Finish ends one choice.
type Finish struct {
	Choice       int
	Reason       FinishReason
	StopSequence string // the matched stop string, for FinishStopSequence
}

// Done is the last event of a reply that succeeded.
type Done struct{ Usage Usage }

// Usage counts the tokens that were really processed, over all choices; the
// prompt counts once.
type Usage struct {
	PromptTokens     int
	CachedTokens     int // the part of PromptTokens taken from the prefix cache
	CompletionTokens int
	ReasoningTokens  int // the part of CompletionTokens spent on reasoning
}

// TokenLogprob is a token with the natural log of its probability before
// sampling; NaN for the first token of an echoed prompt, which has no context.
type TokenLogprob struct {
	Token   []byte // may begin or end inside a character
	Logprob float64
	Top     []TokenLogprob // most likely first; their Top is nil
}

func (Start) event()          {}
func (BlockStart) event()     {}
func (TextDelta) event()      {}
func (ReasoningDelta) event() {}
func (ToolCallDelta) event()  {}
func (BlockStop) event()      {}
func (Finish) event()         {}
func (Done) event()           {}
