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
	// MaxBytes limits the size of a file.
	MaxBytes = 32 << 20

	// MaxPixels limits the decoded size. Cameras make 12 to 50 megapixels.
	MaxPixels = 50_000_000

	// MaxLength limits the longer side, as JPEG and GIF do. The memory for scaling
	// grows with it: a single line of MaxPixels would take gigabytes.
	MaxLength = 1<<16 - 1

	// MaxSide is the longest side in pixels after scaling down. No open model uses
	// more.
	MaxSide = 2048

	// MinSide is the shortest side: llama.cpp's scaling reads two rows and columns,
	// even past its buffer.
	MinSide = 2
)

// Picture is a file with a valid header. It is safe for concurrent use.
type Picture struct {
	Width, Height int      // of [Picture.Pixels]
	Key           [32]byte // hash of the file

	data   []byte
	format format
	full   image.Point // size in the file, before rotating and scaling
	turn   orientation
}

// Open reads the header of a file. mediaType is what the client declares; empty:
// unknown. Errors are of type *engine.Error, for the client.
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

// Weight is how many pixels the file has: the cost of [Picture.Pixels].
func (p *Picture) Weight() int64 { return int64(p.full.X) * int64(p.full.Y) }

// contextReader fails when its context is done, since decoders take none.
type contextReader struct {
	*bytes.Reader
	ctx context.Context
}

func (r contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b[:min(len(b), 32<<10)])
}

// Pixels decodes the picture to Width times Height pixels of RGB, three bytes each.
// Errors are of type *engine.Error, for the client.
func (p *Picture) Pixels(ctx context.Context) ([]byte, error) {
	decoded, err := p.format.decode(contextReader{bytes.NewReader(p.data), ctx})
	if ctx.Err() != nil {
		return nil, engine.AsError(ctx.Err())
	}
	if err != nil {
		return nil, unreadable(p.format).Because(err)
	}
	frame := decoded.Bounds() // a GIF's first frame may cover only a part
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

// scaled is the size after scaling.
func scaled(size image.Point) image.Point {
	f := min(1, MaxSide/float64(max(size.X, size.Y)))
	side := func(n int) int { return max(MinSide, int(math.Round(float64(n)*f))) }
	return image.Pt(side(size.X), side(size.Y))
}

// shrink scales a part of a picture.
func shrink(part image.Rectangle, from, to image.Point) image.Rectangle {
	x := func(n int) int { return n * to.X / from.X }
	y := func(n int) int { return n * to.Y / from.Y }
	return image.Rect(x(part.Min.X), y(part.Min.Y), x(part.Max.X), y(part.Max.Y))
}

func invalid(format string, args ...any) *engine.Error {
	return engine.Errorf(engine.CodeInvalidArgument, format, args...)
}

func unreadable(f format) *engine.Error {
	return invalid("The image cannot be read: its %s data is truncated, corrupt or of an unsupported kind.", f.name)
}

// MediaType is the type of the file.
func (p *Picture) MediaType() string { return p.format.mediaType }

// Size is the size in the file.
func (p *Picture) Size() image.Point { return p.full }
