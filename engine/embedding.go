package engine

// EmbeddingRequest asks for the embeddings of texts.
type EmbeddingRequest struct {
	Model      string
	Inputs     []EmbeddingInput // at least one
	Dimensions int              // leading dimensions to keep, renormalised; 0: all
}

// EmbeddingInput is a text or its token ids.
type EmbeddingInput struct {
	Text   string
	Tokens []int32 // used instead of Text unless it is nil
}

// Embeddings are the vectors of a request's inputs, in order, of unit length.
type Embeddings struct {
	Vectors      [][]float32
	PromptTokens int // of all inputs
}
