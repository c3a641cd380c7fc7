// Package testcard draws test cards: images that show the request they were made for.
package testcard

import (
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

	"github.com/diglot/diglot/engine/imagegen"
)

// Sizes are the sizes of test cards, from icons to what does not slow down tests.
func Sizes() imagegen.Sizes {
	return imagegen.Sizes{Min: 16, Max: 2048, Step: 1, Default: image.Pt(1024, 1024)}
}

// Draw draws a card. Its colours depend on the prompt and the seed, and a frame of one
// pixel shows whether the image was cropped.
func Draw(job imagegen.Job) image.Image {
	card := image.NewPaletted(image.Rectangle{Max: job.Size}, cardColours(job))
	drawBars(card)
	drawFrame(card)
	drawText(card, cardLines(job))
	return card
}

// steps is how many steps a card seems to take: each adds a part from above.
const steps = 4

// DrawSteps draws a card, and shows its steps to a job that wants them.
func DrawSteps(job imagegen.Job) image.Image {
	card := Draw(job)
	if job.Preview == nil {
		return card
	}
	bounds := card.Bounds()
	for step := 1; step < steps; step++ {
		unfinished := image.NewRGBA(bounds)
		draw.Draw(unfinished, bounds, image.White, image.Point{}, draw.Src)
		part := bounds
		part.Max.Y = bounds.Min.Y + bounds.Dy()*step/steps
		draw.Draw(unfinished, part, card, part.Min, draw.Src)
		job.Preview(step, steps, unfinished)
	}
	return card
}

// Indexes into the palette of a card.
const (
	white = iota
	black
	bars // the first of barCount
)

const barCount = 8

// cardColours returns the palette of a card. Bars are neither dark nor light, so
// that text and frame stand out.
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

// cardLines returns the text of a card: the parameters, then the prompt.
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

// cell is the size of one character, in pixels of the font.
var cell = image.Pt(basicfont.Face7x13.Advance, basicfont.Face7x13.Height)

// textScale scales the font so that cards of any size have about the same number
// of lines.
func textScale(size image.Point) int { return max(1, min(size.X, size.Y)/256) }

// drawText writes lines in white on black from the upper left corner, as far as
// they fit.
func drawText(card *image.Paletted, lines []string) {
	scale := textScale(card.Rect.Size())
	area := card.Rect.Inset(1 + scale) // leaves a margin within the frame
	columns, rows := area.Dx()/(cell.X*scale), area.Dy()/(cell.Y*scale)
	lines = wrap(lines, columns, rows)
	for i, line := range lines {
		mask := lineMask(line)
		for y := range mask.Rect.Dy() * scale {
			for x := range mask.Rect.Dx() * scale {
				ink := uint8(black)
				if mask.AlphaAt(x/scale, y/scale).A > 0 {
					ink = white
				}
				card.SetColorIndex(area.Min.X+x, area.Min.Y+i*cell.Y*scale+y, ink)
			}
		}
	}
}

// wrap breaks lines into the given columns, and drops what exceeds the rows.
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

// lineMask renders a line at the font's size. The font has ASCII only; other
// characters become its replacement character.
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
