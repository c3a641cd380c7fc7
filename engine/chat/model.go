package chat

import (
	"context"
	"iter"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/grammar"
	"github.com/diglot/diglot/engine/chat/prompt"
)

// Model counts and continues tokens and knows neither messages nor tools.
// Packages llamacpp and script implement it. A Model is safe for concurrent use.
type Model interface {
	Embedder

	// Info describes the model; it does not change.
	Info() Info

	// Tokenize tokenizes a prompt and adds BOS if the model wants it. An image is
	// as many negative numbers as it takes KV cells, the same for the same image.
	Tokenize(ctx context.Context, prompt prompt.Prompt) ([]int32, error)

	// Decode continues job.Prompt. It yields one Piece per generated token and a
	// last one with End set and no token. The caller may stop earlier, at a stop
	// string for instance. Errors are of type *engine.Error. Ending the iteration
	// or ctx frees the sequence within one decode step.
	Decode(ctx context.Context, job Job) iter.Seq2[Piece, error]

	// Score returns the log probability of each token of job.Prompt, with
	// job.Logprobs alternatives, which must be set. That of the first token is
	// NaN. Special tokens have their text too. Nothing is generated. Errors and
	// the end of ctx are as in Decode.
	Score(ctx context.Context, job Job) ([]engine.TokenLogprob, error)

	// Close frees the model. Decodes in progress end with an error.
	Close() error
}

// Info is what a model file says about itself.
type Info struct {
	Name     string
	Owner    string
	Changed  time.Time
	Template string     // source of its chat template, Jinja or a Go template; empty: none
	Format   string     // name of the output format; empty: detected from the template
	BOS, EOS string     // token texts, for the template
	Control  []string   // texts of all control and user-defined tokens
	FIM      prompt.FIM // fill-in-the-middle tokens
	Context  int        // most tokens of one request, prompt and answer
	Vision   bool
	Vectors  Vectors
	Sampling engine.Sampling // recommended by the file
}

// Job is one sequence to generate.
type Job struct {
	Prompt     []int32
	Images     []*prompt.Image  // in the prompt, in order
	Request    *engine.Request  // identifies the request: all its Jobs have the same pointer
	Choice     int              // index of the choice
	Choices    int              // number of Jobs of the request, which begin together
	MaxTokens  int              // at least 1
	Sampling   engine.Sampling  // nil fields: neutral
	Constraint *grammar.Matcher // nil: unconstrained. Owned by the callee
	Markers    []string         // special tokens of the output format: decoded as text, others are dropped
	Logprobs   *int             // as in engine.Request
}

// End says why a Decode ended.
type End string

// The reasons.
const (
	EndNone   End = ""       // not yet
	EndOfTurn End = "end"    // an end-of-generation token
	EndLength End = "length" // MaxTokens, or the context is full
)

// Piece is one generated token, or the end.
type Piece struct {
	Bytes   []byte // text of the token; may end within a character, or be empty
	Logprob float64
	Top     []engine.TokenLogprob // if requested, most likely first
	End     End
	Cached  int // prompt tokens that were in the cache; the same in every Piece of a sequence
}

// Embedder is the part of a [Model] that computes embeddings. It is not used
// where [Vectors.Size] is 0.
type Embedder interface {
	// TokenizeInput tokenizes a text and adds the special tokens that the model
	// wants around it. Special-token text in it is plain text. It may stop in a
	// text that is far too long: the error then has [engine.CodeContextLength] and
	// the number of tokens so far.
	TokenizeInput(ctx context.Context, text string) ([]int32, error)

	// Embed returns the embedding of each input, not normalized. No input is
	// empty or longer than [Vectors.Input], and all token ids are valid. Errors are
	// of type *engine.Error. Ending ctx ends the work within one batch.
	Embed(ctx context.Context, inputs [][]int32) ([][]float32, error)
}

// Vectors describes the embeddings of a model.
type Vectors struct {
	Size       int  // dimensions; 0: the model has no embeddings
	Input      int  // most tokens of one input
	Vocabulary int  // number of token ids
	Only       bool // an embedding-only model
}
