package imagegen

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/jpeg"

	"github.com/diglot/diglot/engine"
)

// encode writes an image file. Text is for people and programs that ask how the image
// was made; only PNG has a place for it.
func encode(drawn image.Image, file engine.ImageFile, text string) ([]byte, error) {
	switch file.Format {
	case "", "png":
		return encodePNG(drawn, text)
	case "jpeg":
		var out bytes.Buffer
		err := jpeg.Encode(&out, opaque(drawn), &jpeg.Options{Quality: cmp.Or(file.Quality, 100)})
		return out.Bytes(), err
	}
	return nil, fmt.Errorf("no encoder for %q", file.Format)
}

// opaque is an opaque image in the form that the JPEG encoder is fast with.
func opaque(drawn image.Image) image.Image {
	if m, ok := drawn.(*image.NRGBA); ok && m.Opaque() {
		return &image.RGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
	}
	return drawn
}
