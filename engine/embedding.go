package engine

// EmbeddingRequest asks for the vectors of texts.
type EmbeddingRequest struct {
	Model      string
	Inputs     []EmbeddingInput // at least one
	Dimensions int              // how many numbers of a vector are kept, normalised again; 0: all
}

// EmbeddingInput is a text, or the tokens of one in the model's own numbers.
type EmbeddingInput struct {
	Text   string
	Tokens []int32 // used instead of Text unless it is nil
}

// Embeddings are the vectors of a request's inputs, in their order, each of
// length 1.
type Embeddings struct {
	Vectors      [][]float32
	PromptTokens int // of all inputs
}
