package chat

import (
	"context"
	"iter"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/grammar"
	"github.com/diglot/diglot/engine/chat/prompt"
)

// Model is a language model as tokens see it: it counts and continues
// prompts, and knows neither messages nor tools. llamacpp is one that
// computes, script is one that plays. A Model is safe for concurrent use.
type Model interface {
	Embedder

	// Info describes the model; it does not change.
	Info() Info

	// Tokenize turns a prompt into tokens, with the model's own start token
	// where it wants one. What an image takes in the model's context is in it
	// as so many negative numbers, the same for the same image.
	Tokenize(ctx context.Context, prompt prompt.Prompt) ([]int32, error)

	// Decode continues job.Prompt. It yields one Piece per generated token
	// and, last, one Piece with End set and no token. A caller that has seen
	// enough, such as a stop string, leaves before that: what it must know is
	// in every Piece. Errors are of type
	// *engine.Error. Ending the iteration, or ctx, frees the sequence within
	// one decode step.
	Decode(ctx context.Context, job Job) iter.Seq2[Piece, error]

	// Score says how likely each token of job.Prompt is behind those before
	// it, with as many alternatives as job.Logprobs wants, which is set. The
	// first one's logarithm is NaN. Tokens have their spellings, control
	// tokens too. Nothing is generated. Errors and the end of ctx are as in
	// Decode.
	Score(ctx context.Context, job Job) ([]engine.TokenLogprob, error)

	// Close frees the model. Running Decodes end with an error.
	Close() error
}

// Info is what a model file says about itself.
type Info struct {
	Name     string
	Owner    string
	Changed  time.Time
	Template string     // source of its chat template, Jinja or a Go template; empty: none
	Format   string     // name of the output format, where it is known; empty: found from the template
	BOS, EOS string     // spellings, for the template
	Control  []string   // spellings of all control and user-defined tokens
	FIM      prompt.FIM // of the control tokens around a gap
	Context  int        // tokens that one request may use, prompt and answer
	Vision   bool
	Vectors  Vectors
	Sampling engine.Sampling // what the file recommends
}

// Job is one sequence to generate.
type Job struct {
	Prompt     []int32
	Images     []*prompt.Image  // in the prompt, in order
	Request    *engine.Request  // as in Prompt; the same for all Jobs of a request, and for no others
	Choice     int              // which of the request's choices this is
	Choices    int              // how many Jobs the request has: where there are more than one, none begins before all have come
	MaxTokens  int              // at least 1
	Sampling   engine.Sampling  // nil: neutral
	Constraint *grammar.Matcher // what the text must follow; nil: anything. Owned by the callee
	Markers    []string         // control tokens that the output format knows: they come out as text, others are dropped
	Logprobs   *int             // as in engine.Request
}

// End says why a Decode ended.
type End string

// The closed list of ends.
const (
	EndNone   End = ""       // not yet
	EndOfTurn End = "end"    // the model said so
	EndLength End = "length" // MaxTokens, or the context is full
)

// Piece is one generated token, or the end.
type Piece struct {
	Bytes   []byte // what the token adds to the text; may be a part of a character, or nothing
	Logprob float64
	Top     []engine.TokenLogprob // when asked for, likeliest first
	End     End
	Cached  int // how many tokens of the prompt were not read again; the same in every piece of a sequence
}

// Embedder is the part of a [Model] that turns texts into vectors. It is not
// used where [Vectors.Size] is 0.
type Embedder interface {
	// TokenizeInput turns a text into tokens, with those that the model's
	// tokenizer adds at its two ends. Spellings of control tokens are plain
	// text. One that is far too long need not be read to its end: then the
	// error has [engine.CodeContextLength], and Tokens counts what was read.
	TokenizeInput(ctx context.Context, text string) ([]int32, error)

	// Embed makes the vector of each input, as the model has it: of any
	// length but 0. No input is empty or longer than [Vectors.Input], and all
	// tokens are the model's. Errors are of type *engine.Error. Ending ctx
	// ends the work within one batch.
	Embed(ctx context.Context, inputs [][]int32) ([][]float32, error)
}

// Vectors says what a model's vectors are like.
type Vectors struct {
	Size       int  // how many numbers one has; 0: the model makes none
	Input      int  // most tokens of one input
	Vocabulary int  // tokens are the numbers from 0 to below this
	Only       bool // the model makes nothing else: it continues no text
}
