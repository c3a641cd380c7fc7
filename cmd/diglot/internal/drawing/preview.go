package drawing

import (
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"strings"

	"github.com/mattn/go-sixel"
	"golang.org/x/image/draw"
)

// preview shows an image in a terminal: as the terminal's own protocol wants it, as
// sixels, or as half blocks, each two pixels. file is the PNG file. A terminal that its
// variables name is not asked: it might be another one's, which answers late.
func preview(picture image.Image, file []byte, getenv func(string) string, sixels func() bool) string {
	switch {
	case getenv("KITTY_WINDOW_ID") != "" || getenv("TERM") == "xterm-kitty" || getenv("TERM_PROGRAM") == "ghostty":
		return kitty(file)
	case getenv("TERM_PROGRAM") == "iTerm.app" || getenv("TERM_PROGRAM") == "WezTerm":
		return fmt.Sprintf("\x1b]1337;File=inline=1;size=%d:%s\a\n", len(file), base64.StdEncoding.EncodeToString(file))
	}
	if sixels() {
		if text, err := sixelsOf(picture); err == nil {
			return text
		}
	}
	return blocks(picture)
}

// sixelSide is the longest side of an image in sixels, which take more bytes than a PNG
// file: a terminal's window is about twice as wide.
const sixelSide = 640

// sixelsOf shows a picture in sixels, which have 256 colours.
func sixelsOf(picture image.Image) (string, error) {
	size := picture.Bounds().Size()
	if longer := max(size.X, size.Y); longer > sixelSide {
		size = image.Pt(max(size.X*sixelSide/longer, 1), max(size.Y*sixelSide/longer, 1))
		small := image.NewNRGBA(image.Rectangle{Max: size})
		draw.ApproxBiLinear.Scale(small, small.Rect, picture, picture.Bounds(), draw.Src, nil)
		picture = small
	}
	var b strings.Builder
	encoder := sixel.NewEncoder(&b)
	encoder.Dither = true
	if err := encoder.Encode(picture); err != nil {
		return "", err
	}
	return b.String() + "\n", nil
}

// kittyChunk is how much of an image one sequence may have, in bytes.
const kittyChunk = 4096

// kitty sends a PNG file in chunks.
func kitty(file []byte) string {
	text := base64.StdEncoding.EncodeToString(file)
	var b strings.Builder
	for first := true; first || text != ""; first = false {
		part := text[:min(len(text), kittyChunk)]
		text = text[len(part):]
		more := 0
		if text != "" {
			more = 1
		}
		control := fmt.Sprintf("m=%d", more)
		if first {
			control = "a=T,f=100," + control
		}
		fmt.Fprintf(&b, "\x1b_G%s;%s\x1b\\", control, part)
	}
	return b.String() + "\n"
}

// previewColumns is how wide half blocks are; a terminal has at least 80 columns.
const previewColumns = 64

// blocks shows a picture in half blocks: the upper pixel is the foreground.
func blocks(picture image.Image) string {
	size := picture.Bounds().Size()
	columns := min(previewColumns, size.X)
	rows := max(size.Y*columns/size.X, 2) &^ 1
	small := image.NewNRGBA(image.Rect(0, 0, columns, rows))
	draw.ApproxBiLinear.Scale(small, small.Rect, picture, picture.Bounds(), draw.Src, nil)
	var b strings.Builder
	for y := 0; y < rows; y += 2 {
		for x := range columns {
			upper, lower := small.NRGBAAt(x, y), small.NRGBAAt(x, y+1)
			b.WriteString(rgb(38, upper) + rgb(48, lower) + "▀")
		}
		b.WriteString("\x1b[0m\n")
	}
	return b.String()
}

// rgb sets a colour: 38 is the foreground, 48 the background.
func rgb(layer int, c color.NRGBA) string {
	return fmt.Sprintf("\x1b[%d;2;%d;%d;%dm", layer, c.R, c.G, c.B)
}
