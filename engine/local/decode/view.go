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

// Images in a text. An image takes cells of the cache like tokens do. In a
// sequence's tokens each of them is a negative number made of what the picture
// is and of the cell's place in it: so all that compares tokens (common
// prefixes, what is kept) works for images as well, and an image that was read
// before is neither computed nor read again.

// Section is one piece of what a picture is to a model: tokens, or cells.
type Section struct {
	Tokens []int32 // the model's marks around cells; nil: cells

	Cells   int
	Whole   bool // all cells must be read in one batch: each looks at all others
	Columns int  // of a model whose positions have two dimensions, cells in a row; 0: positions go on as for tokens
}

// Layout is a whole picture. It depends on nothing but the picture and the
// model.
type Layout []Section

// positions is how far the cells move the position of what follows.
func (s Section) positions() int {
	if s.Columns == 0 {
		return s.Cells
	}
	return max(s.Columns, s.Cells/s.Columns)
}

// tokens are the numbers that stand for the picture in a prompt.
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

// imageToken is the number of one cell, below 0. Different pictures have
// different numbers in all their cells, as far as 31 bits reach.
func imageToken(p *picture.Picture, section, cell int) int32 {
	var b [len(p.Key) + 8]byte
	copy(b[:], p.Key[:])
	binary.LittleEndian.PutUint32(b[len(p.Key):], uint32(section))
	binary.LittleEndian.PutUint32(b[len(p.Key)+4:], uint32(cell))
	sum := sha256.Sum256(b[:])
	return -1 - int32(binary.LittleEndian.Uint32(sum[:])>>1)
}

// view is the cells of one section in a sequence: tokens[start:end].
type view struct {
	Section
	start   int
	picture *picture.Picture
	pixels  *pixels // of the picture
	part    int     // which of the picture's sections with cells it is

	// embedding is what stands there instead of tokens: so many numbers for
	// each cell. nil: it has to be computed before the cells can be read.
	embedding []float32
}

// ImagePart is a part of a picture to be encoded.
type ImagePart struct {
	Picture *picture.Picture
	Index   int // which of the picture's sections with cells it is
	Cells   int
	Pixels  func() ([]byte, error) // takes those of the whole picture
}

func (v *view) image() ImagePart {
	return ImagePart{Picture: v.picture, Index: v.part, Cells: v.Cells, Pixels: v.takePixels}
}

func (v *view) end() int { return v.start + v.Cells }

// divisible reports whether a part of the cells can be in the cache alone.
func (v *view) divisible() bool { return !v.Whole && v.Columns == 0 }

// eye is what a model sees with.
type ImageEncoder interface {
	// Layout says what a picture is to the model. Its errors are for the client
	// where the picture is to blame.
	Layout(context.Context, *picture.Picture) (Layout, error)

	// Unpack decodes a picture, in its turn.
	Unpack(context.Context, *picture.Picture) ([]byte, error)
}

// pixels are those of a picture that is to be encoded. They are decoded beside
// the loop, where nobody waits for them but their own sequence.
type pixels struct {
	unpack func(context.Context) ([]byte, error)

	// Shared, by the mutex of the loop, until ready is set.
	begun, ready bool
	data         []byte
	err          error
}

// takePixels gives the pixels away, which the loop has waited for. They are
// decoded again where the picture was encoded before and lost its cells.
func (v *view) takePixels() ([]byte, error) {
	data, err := v.pixels.data, v.pixels.err
	v.pixels.data = nil
	if data == nil && err == nil {
		return v.picture.Pixels(context.Background())
	}
	return data, err
}

// findViews finds the cells of images in a prompt.
func findViews(ctx context.Context, job chat.Job, eye ImageEncoder) ([]*view, error) {
	var views []*view
	at := 0
	for _, image := range job.Images {
		l, err := eye.Layout(ctx, image.Picture)
		if err != nil {
			return nil, image.Fail(err)
		}
		part := 0
		shared := &pixels{unpack: func(ctx context.Context) ([]byte, error) { return eye.Unpack(ctx, image.Picture) }}
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
			views = append(views, &view{Section: s, start: at, picture: image.Picture, pixels: shared, part: part})
			at += s.Cells
			part++
		}
	}
	return views, nil
}

// The views of a sequence. Most have none.

// position is the place of a token in the text, as the model counts. It is not
// for the cells of images.
func (s *sequence) position(i int) int {
	at := i
	for _, v := range s.views {
		if i < v.end() {
			break
		}
		at += v.positions() - v.Cells
	}
	return at
}

// looking is the image whose cells are the next to be read; nil: a token is.
func (s *sequence) looking() *view {
	next := len(s.cells)
	for _, v := range s.views {
		if v.start <= next && next < v.end() {
			return v
		}
	}
	return nil
}

// readable is how many tokens of a prompt can be read in one batch: what comes
// before an image. The last token of a prompt is left for a batch with the
// tokens that are being generated, as it is where the others are in the cache
// already: the last digits of the numbers depend on the size of a batch, and a
// request that is asked again gives the same text.
func (s *sequence) readable() int {
	next := len(s.cells)
	for _, v := range s.views {
		if next < v.end() {
			return max(v.start-next, 0)
		}
	}
	if s.scores != nil {
		return min(s.pending(), readScored)
	}
	return max(s.pending()-1, 1)
}

// looksWithin reports whether there are cells of images in tokens[from:to]. To
// compute an image takes as long as to read hundreds of tokens.
func (s *sequence) looksWithin(from, to int) bool {
	return slices.ContainsFunc(s.views, func(v *view) bool { return v.start < to && from < v.end() })
}

// shareable is how much of the first n tokens can be taken over: an image
// that is not divisible only as a whole.
func (s *sequence) shareable(n int) int {
	for _, v := range s.views {
		if v.start < n && n < v.end() && !v.divisible() {
			return v.start
		}
	}
	return n
}
