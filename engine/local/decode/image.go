package decode

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/picture"
)

// Image embeddings occupy KV cells like tokens. In sequence.tokens each cell
// of an image is a negative number, hashed from the picture and the cell's
// index, so prefix matching needs no special case for images.

// Chunk is one of the chunks that mtmd splits a picture into: special tokens or
// image embeddings.
type Chunk struct {
	Tokens []int32 // around the embeddings; nil: this chunk is embeddings

	Cells     int
	NonCausal bool // attention within the chunk is not causal, so it must fit one batch
	Columns   int  // M-RoPE: cells in a row; 0: positions are one-dimensional
}

// Layout lists the chunks of a picture. It depends on the picture and the model
// alone.
type Layout []Chunk

// positions is how many positions the chunk takes.
func (s Chunk) positions() int {
	if s.Columns == 0 {
		return s.Cells
	}
	return max(s.Columns, s.Cells/s.Columns)
}

// tokens returns the picture as it stands in sequence.tokens.
func (l Layout) tokens(p *picture.Picture) []int32 {
	var tokens []int32
	for i, s := range l {
		tokens = append(tokens, s.Tokens...)
		for cell := range s.Cells {
			tokens = append(tokens, imageToken(p, i, cell))
		}
	}
	return tokens
}

// imageToken is a 31-bit hash of a picture and a cell in it, below 0.
func imageToken(p *picture.Picture, section, cell int) int32 {
	var b [len(p.Key) + 8]byte
	copy(b[:], p.Key[:])
	binary.LittleEndian.PutUint32(b[len(p.Key):], uint32(section))
	binary.LittleEndian.PutUint32(b[len(p.Key)+4:], uint32(cell))
	sum := sha256.Sum256(b[:])
	return -1 - int32(binary.LittleEndian.Uint32(sum[:])>>1)
}

// imageChunk is a chunk of embeddings in a sequence, at tokens[start:end].
type imageChunk struct {
	Chunk
	start   int
	picture *picture.Picture
	pixels  *pixels // shared by the picture's chunks
	part    int     // index among the picture's chunks of embeddings

	// embeddings are nil until the chunk is encoded.
	embeddings []float32
}

// ImageInput is a chunk of a picture to be encoded.
type ImageInput struct {
	Picture *picture.Picture
	Index   int // among the picture's chunks of embeddings
	Cells   int
	Pixels  func() ([]byte, error) // of the whole picture; consumes them
}

func (v *imageChunk) input() ImageInput {
	return ImageInput{Picture: v.picture, Index: v.part, Cells: v.Cells, Pixels: v.takePixels}
}

func (v *imageChunk) end() int { return v.start + v.Cells }

// divisible reports whether a part of the chunk can be cached without the rest.
func (v *imageChunk) divisible() bool { return !v.NonCausal && v.Columns == 0 }

// ImageEncoder prepares pictures for the model.
type ImageEncoder interface {
	// Layout splits a picture into chunks.
	Layout(context.Context, *picture.Picture) (Layout, error)

	// DecodePixels decodes a picture. It limits how many pixels are decoded
	// concurrently.
	DecodePixels(context.Context, *picture.Picture) ([]byte, error)
}

// pixels are decoded in a goroutine of their own, so that only their own
// sequence waits for them.
type pixels struct {
	decode func(context.Context) ([]byte, error)

	// Guarded by loop.mu until ready is set.
	started, ready bool
	data           []byte
	err            error
}

// takePixels returns the decoded pixels and drops them. It decodes them again
// when a preempted sequence has to encode a picture a second time.
func (v *imageChunk) takePixels() ([]byte, error) {
	data, err := v.pixels.data, v.pixels.err
	v.pixels.data = nil
	if data == nil && err == nil {
		return v.picture.Pixels(context.Background())
	}
	return data, err
}

// findImageChunks locates the image chunks of a prompt.
func findImageChunks(ctx context.Context, job chat.Job, encoder ImageEncoder) ([]*imageChunk, error) {
	var chunks []*imageChunk
	at := 0
	for _, image := range job.Images {
		l, err := encoder.Layout(ctx, image.Picture)
		if err != nil {
			return nil, image.Fail(err)
		}
		part := 0
		shared := &pixels{decode: func(ctx context.Context) ([]byte, error) { return encoder.DecodePixels(ctx, image.Picture) }}
		for _, s := range l {
			if s.Cells == 0 {
				continue
			}
			for at < len(job.Prompt) && job.Prompt[at] >= 0 {
				at++
			}
			if at+s.Cells > len(job.Prompt) {
				return nil, engine.Errorf(engine.CodeInternal, "The prompt lacks an image.")
			}
			chunks = append(chunks, &imageChunk{Chunk: s, start: at, picture: image.Picture, pixels: shared, part: part})
			at += s.Cells
			part++
		}
	}
	return chunks, nil
}

// position is the position of tokens[i], which must not be within an image.
func (s *sequence) position(i int) int {
	at := i
	for _, v := range s.images {
		if i < v.end() {
			break
		}
		at += v.positions() - v.Cells
	}
	return at
}

// nextImage returns the image chunk to decode next, or nil if a token is next.
func (s *sequence) nextImage() *imageChunk {
	next := len(s.cells)
	for _, v := range s.images {
		if v.start <= next && next < v.end() {
			return v
		}
	}
	return nil
}

// prefillLimit is how many tokens can be prefilled in the next batch: those before an
// image, or all but the last ones, which come alone, at most one.
func (s *sequence) prefillLimit(alone int) int {
	next := len(s.cells)
	for _, v := range s.images {
		if next < v.end() {
			return max(v.start-next, 0)
		}
	}
	if s.scores != nil {
		return min(s.pending(), scoreChunk)
	}
	return s.pending() - alone // of two at least
}

// hasImageWithin reports whether tokens[from:to] overlaps an image. Encoding
// one takes as long as prefilling hundreds of tokens.
func (s *sequence) hasImageWithin(from, to int) bool {
	return slices.ContainsFunc(s.images, func(v *imageChunk) bool { return v.start < to && from < v.end() })
}

// shareable shortens a prefix of n tokens so that it ends in no indivisible
// image.
func (s *sequence) shareable(n int) int {
	for _, v := range s.images {
		if v.start < n && n < v.end() && !v.divisible() {
			return v.start
		}
	}
	return n
}
