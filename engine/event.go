package engine

// Event is one step of a reply: exactly one of [Start], [BlockStart],
// [TextDelta], [ReasoningDelta], [ToolCallDelta], [BlockStop], [Finish] and
// [Done].
type Event interface{ event() }

// Start is the first event, sent once the request is admitted and its prompt
// is counted, before the prompt is read by the model.
type Start struct {
	PromptTokens int      // 0: known at the end only, as of a model that is served elsewhere
	Prompt       string   // as rendered, for traces
	Unenforced   []Place  // parts of tool schemas that the grammar cannot enforce
	Ignored      []string // parameters without effect where the model is served, in the words of definition files, and reasoning_effort
	Dropped      int      // messages left out because of [Request.Truncate]
	Used         Used
}

// Used is what an answer is generated with: what the request asked for, as far
// as it has an effect, and what was decided where it said nothing. What is nil
// is not known, as with a model that is served elsewhere.
type Used struct {
	Sampling  Sampling // without LogitBias
	MaxTokens *int     // of one choice
	Reasoning Reasoning
	Truncate  bool
}

// BlockKind says what a block holds.
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

// TextDelta adds text to the open text block: whole UTF-8, never a part of a
// stop string.
type TextDelta struct {
	Choice   int
	Index    int
	Text     string
	Logprobs []TokenLogprob // when asked for: the tokens that this text is made of
}

// ReasoningDelta adds text to the open reasoning block.
type ReasoningDelta struct {
	Choice int
	Index  int
	Text   string
}

// ToolCallDelta adds a piece of the JSON text of the arguments. A call that is not
// cut has one at least: [NoArguments] where there are none.
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

// FinishReason says why a choice ended.
type FinishReason string

// The closed list of finish reasons.
const (
	FinishEndOfTurn    FinishReason = "end_of_turn"
	FinishStopSequence FinishReason = "stop_sequence"
	FinishMaxTokens    FinishReason = "max_tokens" // the limit of the request, or of the context
	FinishToolCalls    FinishReason = "tool_calls"
)

// Finish ends one choice.
type Finish struct {
	Choice       int
	Reason       FinishReason
	StopSequence string // the string that ended it, for FinishStopSequence
}

// Done is the last event of a reply that succeeded.
type Done struct{ Usage Usage }

// Usage counts what the engine really processed, over all choices; the
// prompt counts once.
type Usage struct {
	PromptTokens     int
	CachedTokens     int // the part of PromptTokens that was not read again
	CompletionTokens int
	ReasoningTokens  int // the part of CompletionTokens spent on reasoning
}

// TokenLogprob is one token and the natural logarithm of its probability
// before any sampling step; NaN for the first token of an echoed prompt, which
// nothing precedes.
type TokenLogprob struct {
	Token   []byte // may be a part of a character
	Logprob float64
	Top     []TokenLogprob // likeliest first; their Top is nil
}

func (Start) event()          {}
func (BlockStart) event()     {}
func (TextDelta) event()      {}
func (ReasoningDelta) event() {}
func (ToolCallDelta) event()  {}
func (BlockStop) event()      {}
func (Finish) event()         {}
func (Done) event()           {}
