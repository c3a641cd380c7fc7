package testcard

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/imagegen"
)

// model is a model that draws cards.
type model struct{}

func (model) Info() imagegen.Info { return imagegen.Info{Name: "m", Sizes: Sizes()} }

func (model) Close() error { return nil }

func (model) Draw(_ context.Context, job imagegen.Job) (image.Image, error) { return Draw(job), nil }

// drawCards asks a model that draws cards for pictures and decodes their files.
func drawCards(t *testing.T, req engine.ImageRequest) []image.Image {
	t.Helper()
	req.Model = "m"
	drawn, err := engine.CollectImages(imagegen.New(model{}, func() uint64 { return 0 }, slog.New(slog.DiscardHandler)).GenerateImages(t.Context(), &req))
	if err != nil {
		t.Fatal(err)
	}
	var images []image.Image
	for _, d := range drawn {
		decoded, err := png.Decode(bytes.NewReader(d.Image.Data))
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, decoded)
	}
	return images
}

// read reads what is written on a card, cell by cell: the character whose
// mask fits a cell is the one that is there.
func read(card image.Image) []string {
	scale := textScale(card.Bounds().Size())
	room := card.Bounds().Inset(1 + scale)
	var lines []string
	for y := room.Min.Y; y+cell.Y*scale <= room.Max.Y; y += cell.Y * scale {
		var line strings.Builder
		for x := room.Min.X; x+cell.X*scale <= room.Max.X; x += cell.X * scale {
			r, ok := readCell(card, image.Pt(x, y), scale)
			if !ok {
				break
			}
			line.WriteRune(r)
		}
		if line.Len() > 0 {
			lines = append(lines, line.String())
		}
	}
	return lines
}

func readCell(card image.Image, at image.Point, scale int) (rune, bool) {
	for r := rune(' '); r <= '\u007f'; r++ {
		if r == '\u007f' {
			r = '\ufffd'
		}
		if fits(card, at, scale, lineMask(string(r))) {
			return r, true
		}
	}
	return 0, false
}

func fits(card image.Image, at image.Point, scale int, mask *image.Alpha) bool {
	for y := range cell.Y {
		for x := range cell.X {
			red, _, _, _ := card.At(at.X+x*scale+scale/2, at.Y+y*scale+scale/2).RGBA()
			want := uint32(0)
			if mask.AlphaAt(x, y).A > 0 {
				want = 0xffff
			}
			if red != want {
				return false
			}
		}
	}
	return true
}

func TestCard(t *testing.T) {
	for _, tt := range []struct {
		name string
		req  engine.ImageRequest
		size image.Point
		want []string // nil: too small to hold a line
	}{
		{"as it likes", engine.ImageRequest{Prompt: "a cat"}, image.Pt(1024, 1024), []string{"1024x1024", "seed 0", "a cat"}},
		{"wide", engine.ImageRequest{Prompt: "a cat", Width: 513, Height: 257}, image.Pt(513, 257), []string{"513x257", "seed 0", "a cat"}},
		{"the largest", engine.ImageRequest{Prompt: "a cat", Width: 2048, Height: 2048}, image.Pt(2048, 2048), []string{"2048x2048", "seed 0", "a cat"}},
		{"the least", engine.ImageRequest{Prompt: "a cat", Width: 16, Height: 16}, image.Pt(16, 16), nil},
		{"narrow", engine.ImageRequest{Prompt: "a cat on a mat", Width: 60, Height: 120}, image.Pt(60, 120),
			[]string{"60x120", "seed 0", "a cat on", " a mat"}},
		{"what else was asked for", engine.ImageRequest{Prompt: "two\nlines", Width: 256, Height: 256, Quality: "hd", Style: "vivid"}, image.Pt(256, 256),
			[]string{"256x256", "seed 0", "quality hd", "style vivid", "two", "lines"}},
		{"beyond the font", engine.ImageRequest{Prompt: "Zürich", Width: 256, Height: 256}, image.Pt(256, 256), []string{"256x256", "seed 0", "Z\ufffdrich"}},
		{"more than fits", engine.ImageRequest{Prompt: strings.Repeat("x", 1000), Width: 64, Height: 64}, image.Pt(64, 64),
			[]string{"64x64", "seed 0", "xxxxxxxx", "xxxxxxxx"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			images := drawCards(t, tt.req)
			if len(images) != 1 || images[0].Bounds() != (image.Rectangle{Max: tt.size}) {
				t.Fatalf("%d pictures, the first of %v; want one of %v", len(images), images[0].Bounds(), tt.size)
			}
			if diff := cmp.Diff(tt.want, read(images[0])); diff != "" {
				t.Errorf("the card says -want +got\n%s", diff)
			}
		})
	}
}

// TestCardsDiffer holds that a card is the same in every run, and another one
// for another prompt or seed.
func TestCardsDiffer(t *testing.T) {
	colours := func(m image.Image) (all []uint32) {
		for i := range barCount {
			r, g, b, _ := m.At(i*m.Bounds().Dx()/barCount+2, m.Bounds().Dy()-3).RGBA()
			all = append(all, r, g, b)
		}
		return all
	}
	small := engine.ImageRequest{Prompt: "a cat", Width: 128, Height: 128, Choices: 3}
	cats, again := drawCards(t, small), drawCards(t, small)
	if diff := cmp.Diff(cats, again); diff != "" || len(cats) != 3 {
		t.Errorf("%d cards; the second time\n%s", len(cats), diff)
	}
	small.Prompt = "a dog"
	all := append(cats, drawCards(t, small)...)
	for i := range all {
		for j := range i {
			if cmp.Equal(colours(all[i]), colours(all[j])) {
				t.Errorf("cards %d and %d have the same colours", j, i)
			}
		}
	}
	for i, want := range []string{"seed 0", "seed 1", "seed 2"} {
		if got := read(cats[i]); len(got) < 2 || got[1] != want {
			t.Errorf("card %d says %q, want %s", i, got, want)
		}
	}
}

// TestCardFrame holds that the frame is at the very edge, on every side.
func TestCardFrame(t *testing.T) {
	for _, size := range []image.Point{{16, 16}, {17, 300}, {1024, 16}} {
		card := drawCards(t, engine.ImageRequest{Prompt: "p", Width: size.X, Height: size.Y})[0]
		for x := range size.X {
			for y := range size.Y {
				if x > 0 && y > 0 && x < size.X-1 && y < size.Y-1 {
					continue
				}
				if r, g, b, _ := card.At(x, y).RGBA(); r&g&b != 0xffff {
					t.Fatalf("%v: the frame is broken at %d,%d", size, x, y)
				}
			}
		}
	}
}
