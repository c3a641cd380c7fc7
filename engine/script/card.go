package script

import (
	"context"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/draw"
	"math/rand/v2"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/imagegen"
)

// sizes are what a test card can be: no larger than what a test wants to wait
// for, and small enough that the least are icons.
var sizes = imagegen.Sizes{Least: 16, Most: 2048, Step: 1, Usual: image.Pt(1024, 1024)}

// painter is a model with `image: true` as the engine for images sees it.
type painter struct{ model *Model }

var _ imagegen.Model = painter{}

// Info implements [imagegen.Model].
func (p painter) Info() imagegen.Info {
	info := p.model.info
	return imagegen.Info{Name: info.Name, Owner: info.Owner, Changed: info.Changed, Sizes: sizes}
}

// Close implements [imagegen.Model].
func (p painter) Close() error { return p.model.Close() }

// Draw implements [imagegen.Model]: it draws a test card, which shows what
// was asked for, so that a person or a test sees that it arrived whole. Its
// colours are made from the prompt and the seed, its frame of one pixel is
// whole only if nothing was cut off.
func (p painter) Draw(ctx context.Context, job imagegen.Job) (image.Image, error) {
	select {
	case <-ctx.Done():
		return nil, engine.AsError(ctx.Err())
	case <-p.model.closed:
		return nil, engine.Errorf(engine.CodeInternal, "Model %q was closed.", p.model.info.Name)
	default:
	}
	card := image.NewPaletted(image.Rectangle{Max: job.Size}, cardColours(job))
	drawBars(card)
	drawFrame(card)
	drawText(card, cardLines(job))
	return card, nil
}

// The colours of a card, as indexes into its palette.
const (
	white = iota
	black
	bars // and all behind it
)

const barCount = 8

// cardColours makes the palette of a card. Bars are neither dark nor light,
// so that text and frame can be told from them.
func cardColours(job imagegen.Job) color.Palette {
	hash := fnv.New64a()
	hash.Write([]byte(job.Prompt))
	random := rand.New(rand.NewPCG(hash.Sum64(), job.Seed))
	palette := color.Palette{white: color.White, black: color.Black}
	channel := func() uint8 { return uint8(64 + random.IntN(128)) }
	for range barCount {
		palette = append(palette, color.RGBA{channel(), channel(), channel(), 0xff})
	}
	return palette
}

func drawBars(card *image.Paletted) {
	width := card.Rect.Dx()
	for i := range barCount {
		bar := image.Rect(i*width/barCount, 0, (i+1)*width/barCount, card.Rect.Dy())
		draw.Draw(card, bar, image.NewUniform(card.Palette[bars+i]), image.Point{}, draw.Src)
	}
}

func drawFrame(card *image.Paletted) {
	right, bottom := card.Rect.Max.X-1, card.Rect.Max.Y-1
	for x := range right + 1 {
		card.SetColorIndex(x, 0, white)
		card.SetColorIndex(x, bottom, white)
	}
	for y := range bottom + 1 {
		card.SetColorIndex(0, y, white)
		card.SetColorIndex(right, y, white)
	}
}

// cardLines is what a card says, above the prompt what else was asked for.
func cardLines(job imagegen.Job) []string {
	lines := []string{fmt.Sprintf("%dx%d", job.Size.X, job.Size.Y), fmt.Sprintf("seed %d", job.Seed)}
	if job.Quality != "" {
		lines = append(lines, "quality "+job.Quality)
	}
	if job.Style != "" {
		lines = append(lines, "style "+job.Style)
	}
	return append(lines, strings.Split(job.Prompt, "\n")...)
}

// cell is the place of one character of the font, in its own pixels.
var cell = image.Pt(basicfont.Face7x13.Advance, basicfont.Face7x13.Height)

// textScale is how many pixels of a card one of the font takes in each
// direction: a card of any size has about the same number of lines.
func textScale(size image.Point) int { return max(1, min(size.X, size.Y)/256) }

// drawText writes lines in white on black from the upper left corner, as far
// as there is room.
func drawText(card *image.Paletted, lines []string) {
	scale := textScale(card.Rect.Size())
	room := card.Rect.Inset(1 + scale) // between the frame and the text
	columns, rows := room.Dx()/(cell.X*scale), room.Dy()/(cell.Y*scale)
	lines = wrap(lines, columns, rows)
	for i, line := range lines {
		mask := lineMask(line)
		for y := range mask.Rect.Dy() * scale {
			for x := range mask.Rect.Dx() * scale {
				ink := uint8(black)
				if mask.AlphaAt(x/scale, y/scale).A > 0 {
					ink = white
				}
				card.SetColorIndex(room.Min.X+x, room.Min.Y+i*cell.Y*scale+y, ink)
			}
		}
	}
}

// wrap breaks lines into pieces of so many characters, and drops what has no
// room.
func wrap(lines []string, columns, rows int) []string {
	var out []string
	for _, line := range lines {
		left := []rune(line)
		for columns > 0 && len(out) < rows {
			n := min(columns, len(left))
			out = append(out, string(left[:n]))
			if left = left[n:]; len(left) == 0 {
				break
			}
		}
	}
	return out
}

// lineMask writes a line in the font's own size. Characters that the font
// lacks, which are all beyond ASCII, become its replacement character.
func lineMask(line string) *image.Alpha {
	mask := image.NewAlpha(image.Rect(0, 0, cell.X*len([]rune(line)), cell.Y))
	drawer := font.Drawer{
		Dst:  mask,
		Src:  image.Opaque,
		Face: basicfont.Face7x13,
		Dot:  fixed.P(0, basicfont.Face7x13.Ascent),
	}
	drawer.DrawString(line)
	return mask
}
