package picture

import (
	"bytes"
	"context"
	"crypto/sha256"
	"image"
	"math"

	"github.com/diglot/diglot/engine"
	"golang.org/x/image/draw"
)

const (
	// MaxBytes is the most that the file of a picture may have.
	MaxBytes = 32 << 20

	// MaxPixels is the most that it may unpack to. The cameras of today make
	// pictures of 12 to 50 megapixels.
	MaxPixels = 50_000_000

	// MaxLength is the longest side that it may have, which is the longest of
	// JPEG and GIF. The memory that scaling takes grows with the longer side:
	// a line of as many pixels as a picture may have would take gigabytes.
	MaxLength = 1<<16 - 1

	// MaxSide is the longest side in pixels that a model gets to see; what
	// is larger is scaled down. No open model looks closer.
	MaxSide = 2048

	// MinSide is the shortest: llama.cpp's own scaling looks at two rows and
	// two columns, those beyond the end of its memory included.
	MinSide = 2
)

// Picture is a file whose head made sense. It is safe for concurrent use.
type Picture struct {
	Width, Height int      // of its pixels
	Key           [32]byte // the same for the same file

	data   []byte
	format format
	full   image.Point // size in the file, before turning and scaling
	turn   orientation
}

// Open looks at the head of a file. mediaType is what the client says that it
// is; empty: not known. Errors are of type *engine.Error, for the client.
func Open(data []byte, mediaType string) (*Picture, error) {
	if len(data) > MaxBytes {
		return nil, invalid("The image has %d bytes, more than %d.", len(data), MaxBytes)
	}
	f, err := recognize(data, mediaType)
	if err != nil {
		return nil, err
	}
	if cause := f.suspect(data); cause != nil {
		return nil, unreadable(f).Because(cause)
	}
	config, cause := f.config(bytes.NewReader(data))
	if cause != nil {
		return nil, unreadable(f).Because(cause)
	}
	if config.Width < 1 || config.Height < 1 {
		return nil, invalid("The image has no pixels.")
	}
	if config.Width > MaxPixels/config.Height {
		return nil, invalid("The image has %d times %d pixels, more than %d in all.", config.Width, config.Height, MaxPixels)
	}
	if max(config.Width, config.Height) > MaxLength {
		return nil, invalid("The image has %d times %d pixels; no side may be longer than %d.", config.Width, config.Height, MaxLength)
	}
	p := &Picture{
		Key:    sha256.Sum256(data),
		data:   data,
		format: f,
		full:   image.Pt(config.Width, config.Height),
		turn:   f.orientation(data),
	}
	size := p.turn.size(scaled(p.full))
	p.Width, p.Height = size.X, size.Y
	return p, nil
}

// Weight is how many pixels the file unpacks to, which is the memory and work
// that [Picture.Pixels] takes.
func (p *Picture) Weight() int64 { return int64(p.full.X) * int64(p.full.Y) }

// reading is a file that ends with a context: decoders know none.
type reading struct {
	*bytes.Reader
	ctx context.Context
}

func (r reading) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b[:min(len(b), 32<<10)])
}

// Pixels decodes the picture: three bytes, red, green and blue, for each of
// Width times Height pixels, in rows from the top. Errors are of type
// *engine.Error, for the client: the file is cut short or broken, or ctx has
// ended.
func (p *Picture) Pixels(ctx context.Context) ([]byte, error) {
	decoded, err := p.format.decode(reading{bytes.NewReader(p.data), ctx})
	if ctx.Err() != nil {
		return nil, engine.AsError(ctx.Err())
	}
	if err != nil {
		return nil, unreadable(p.format).Because(err)
	}
	frame := decoded.Bounds() // a GIF's first frame may cover a part only
	if !frame.In(image.Rectangle{Max: p.full}) {
		return nil, unreadable(p.format)
	}
	size := scaled(p.full)
	canvas := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(canvas, canvas.Bounds(), image.White, image.Point{}, draw.Src)
	if size == p.full {
		draw.Draw(canvas, frame, decoded, frame.Min, draw.Over)
	} else {
		draw.BiLinear.Scale(canvas, shrink(frame, p.full, size), decoded, frame, draw.Over, nil)
	}
	return p.turn.pack(canvas), nil
}

// scaled is the size in which a model sees a picture.
func scaled(size image.Point) image.Point {
	f := min(1, MaxSide/float64(max(size.X, size.Y)))
	side := func(n int) int { return max(MinSide, int(math.Round(float64(n)*f))) }
	return image.Pt(side(size.X), side(size.Y))
}

// shrink is where a part of a picture is when the picture is scaled.
func shrink(part image.Rectangle, from, to image.Point) image.Rectangle {
	x := func(n int) int { return n * to.X / from.X }
	y := func(n int) int { return n * to.Y / from.Y }
	return image.Rect(x(part.Min.X), y(part.Min.Y), x(part.Max.X), y(part.Max.Y))
}

func invalid(format string, args ...any) *engine.Error {
	return engine.Errorf(engine.CodeInvalidArgument, format, args...)
}

func unreadable(f format) *engine.Error {
	return invalid("The image cannot be read: its %s data is cut short or broken, or of a kind that is not supported.", f.name)
}
