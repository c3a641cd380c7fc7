package picture

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"golang.org/x/image/bmp"
)

// paint makes an opaque picture, by default red, with a green pixel block in
// its top left quarter.
func paint(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{220, 20, 20, 255}
			if 2*x < w && 2*y < h {
				c = color.NRGBA{20, 200, 30, 255}
			}
			m.SetNRGBA(x, y, c)
		}
	}
	return m
}

func encode(t testing.TB, kind string, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch kind {
	case "png":
		err = png.Encode(&b, m)
	case "jpeg":
		err = jpeg.Encode(&b, m, &jpeg.Options{Quality: 95})
	case "gif":
		err = gif.Encode(&b, m, nil)
	case "bmp":
		err = bmp.Encode(&b, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webPFile is 4 times 2 pixels, all red.
const webPFile = "UklGRh4AAABXRUJQVlA4TBEAAAAvA0AAAAdQinKXov+BiOh/AAA="

func webPData(t testing.TB) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(webPFile)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFormats(t *testing.T) {
	for _, tt := range []struct{ kind, mediaType string }{
		{"png", "image/png"},
		{"png", ""},
		{"png", "IMAGE/PNG; charset=binary"},
		{"jpeg", "image/jpeg"},
		{"jpeg", "image/jpg"},
		{"gif", "image/gif"},
		{"bmp", "image/bmp"},
		{"bmp", "image/x-ms-bmp"},
	} {
		t.Run(tt.kind+" as "+tt.mediaType, func(t *testing.T) {
			p, pixels := mustRead(t, encode(t, tt.kind, paint(64, 32)), tt.mediaType)
			if p.Width != 64 || p.Height != 32 {
				t.Fatalf("%d times %d pixels, want 64 times 32", p.Width, p.Height)
			}
			wantColour(t, p, pixels, 8, 8, "green")
			wantColour(t, p, pixels, 56, 8, "red")
			wantColour(t, p, pixels, 8, 28, "red")
		})
	}
}

func mustRead(t *testing.T, data []byte, mediaType string) (*Picture, []byte) {
	t.Helper()
	p, err := Open(data, mediaType)
	if err != nil {
		t.Fatal(err)
	}
	pixels, err := p.Pixels(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(pixels) != 3*p.Width*p.Height {
		t.Fatalf("%d bytes for %d times %d pixels", len(pixels), p.Width, p.Height)
	}
	return p, pixels
}

func wantColour(t *testing.T, p *Picture, pixels []byte, x, y int, want string) {
	t.Helper()
	rgb := pixels[3*(y*p.Width+x):][:3]
	got := fmt.Sprint(rgb)
	switch r, g, b := int(rgb[0]), int(rgb[1]), int(rgb[2]); {
	case r > 180 && g < 60 && b < 60:
		got = "red"
	case r < 60 && g > 160 && b < 60:
		got = "green"
	case r > 250 && g > 250 && b > 250:
		got = "white"
	case r < 5 && g < 5 && b < 5:
		got = "black"
	}
	if got != want {
		t.Errorf("the pixel at %d, %d is %s, want %s", x, y, got, want)
	}
}

func TestWebP(t *testing.T) {
	p, pixels := mustRead(t, webPData(t), "image/webp")
	if p.Width != 4 || p.Height != 2 {
		t.Fatalf("%d times %d pixels, want 4 times 2", p.Width, p.Height)
	}
	wantColour(t, p, pixels, 3, 1, "red")
}

func TestSizes(t *testing.T) {
	for _, tt := range []struct{ w, h, wantW, wantH int }{
		{1, 1, MinSide, MinSide},
		{MaxSide, MaxSide, MaxSide, MaxSide},
		{MaxSide + 1, 1, MaxSide, MinSide},
		{1, 10 * MaxSide, MinSide, MaxSide},
		{3, 1, 3, MinSide},
		{2 * MaxSide, MaxSide, MaxSide, MaxSide / 2},
		{5200, 4000, MaxSide, 1575}, // 20 megapixels
	} {
		t.Run(fmt.Sprintf("%dx%d", tt.w, tt.h), func(t *testing.T) {
			m := image.NewPaletted(image.Rect(0, 0, tt.w, tt.h), color.Palette{color.RGBA{220, 20, 20, 255}})
			p, pixels := mustRead(t, encode(t, "png", m), "image/png")
			if p.Width != tt.wantW || p.Height != tt.wantH {
				t.Fatalf("%d times %d pixels, want %d times %d", p.Width, p.Height, tt.wantW, tt.wantH)
			}
			wantColour(t, p, pixels, 0, 0, "red")
			wantColour(t, p, pixels, p.Width-1, p.Height-1, "red")
		})
	}
}

// TestOrientation has a picture whose green quarter is at the top left as it
// is stored.
func TestOrientation(t *testing.T) {
	const w, h = 64, 32
	corners := []string{"top left", "top right", "bottom left", "bottom right"}
	for o, want := range map[uint16]struct {
		green string
		swap  bool
	}{
		0: {"top left", false}, 1: {"top left", false}, 2: {"top right", false}, 3: {"bottom right", false}, 4: {"bottom left", false},
		5: {"top left", true}, 6: {"top right", true}, 7: {"bottom right", true}, 8: {"bottom left", true}, 9: {"top left", false},
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			for _, file := range []struct {
				kind string
				add  func(data, exif []byte) []byte
			}{{"jpeg", exifToJPEG}, {"png", exifToPNG}} {
				t.Run(fmt.Sprintf("%d in %s of %s", o, file.kind, order), func(t *testing.T) {
					data := file.add(encode(t, file.kind, paint(w, h)), exifBlock(order, o))
					p, pixels := mustRead(t, data, "")
					if got := image.Pt(p.Width, p.Height); got != (image.Point{w, h}) != want.swap {
						t.Fatalf("size %v", got)
					}
					for i, corner := range corners {
						x, y := 4+i%2*(p.Width-8), 4+i/2*(p.Height-8)
						colour := "red"
						if corner == want.green {
							colour = "green"
						}
						wantColour(t, p, pixels, x, y, colour)
					}
				})
			}
		}
	}
}

// exifBlock is a TIFF directory of two entries, the second an orientation.
func exifBlock(order binary.AppendByteOrder, orientation uint16) []byte {
	b := []byte("II")
	if order == binary.AppendByteOrder(binary.BigEndian) {
		b = []byte("MM")
	}
	b = order.AppendUint16(b, 42)
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, 2)
	for _, entry := range []struct{ tag, value uint16 }{{0x0103, 6}, {0x0112, orientation}} {
		b = order.AppendUint16(b, entry.tag)
		b = order.AppendUint16(b, 3)
		b = order.AppendUint32(b, 1)
		b = order.AppendUint16(b, entry.value)
		b = order.AppendUint16(b, 0)
	}
	return order.AppendUint32(b, 0)
}

func exifToJPEG(data, exif []byte) []byte {
	segment := []byte{0xff, 0xe1}
	segment = binary.BigEndian.AppendUint16(segment, uint16(2+6+len(exif)))
	segment = append(segment, "Exif\x00\x00"...)
	return bytes.Join([][]byte{data[:2], segment, exif, data[2:]}, nil)
}

func exifToPNG(data, exif []byte) []byte {
	const head = 8 + 12 + 13 // signature, and the first chunk
	chunk := append([]byte("eXIf"), exif...)
	var b []byte
	b = binary.BigEndian.AppendUint32(b, uint32(len(exif)))
	b = append(b, chunk...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(chunk))
	return bytes.Join([][]byte{data[:head], b, data[head:]}, nil)
}

// exifToWebP adds a chunk behind the pixels, where the format has it.
func exifToWebP(data, exif []byte) []byte {
	data = append(bytes.Clone(data), "EXIF"...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(exif)))
	data = append(data, exif...)
	binary.LittleEndian.PutUint32(data[4:], uint32(len(data)-8))
	return data
}

// withCanvas puts a head with a size of its own in front of a WebP's frame.
func withCanvas(data []byte, w, h int) []byte {
	chunk := []byte("VP8X\x0a\x00\x00\x00\x00\x00\x00\x00")
	for _, n := range []int{w - 1, h - 1} {
		chunk = append(chunk, byte(n), byte(n>>8), byte(n>>16))
	}
	data = bytes.Join([][]byte{data[:12], chunk, data[12:]}, nil)
	binary.LittleEndian.PutUint32(data[4:], uint32(len(data)-8))
	return data
}

func TestCanvasOfWebP(t *testing.T) {
	p, _ := mustRead(t, withCanvas(webPData(t), 4, 2), "image/webp")
	if p.Width != 4 || p.Height != 2 {
		t.Errorf("%d times %d pixels, want 4 times 2", p.Width, p.Height)
	}
}

func TestOrientationOfWebP(t *testing.T) {
	p, _ := mustRead(t, exifToWebP(webPData(t), exifBlock(binary.LittleEndian, 6)), "image/webp")
	if p.Width != 2 || p.Height != 4 {
		t.Errorf("%d times %d pixels, want 2 times 4", p.Width, p.Height)
	}
}

// TestTransparent has a picture that is see-through on the left.
func TestTransparent(t *testing.T) {
	m := paint(64, 64)
	for y := range 64 {
		for x := range 32 {
			m.SetNRGBA(x, y, color.NRGBA{})
		}
	}
	p, pixels := mustRead(t, encode(t, "png", m), "")
	wantColour(t, p, pixels, 8, 8, "white")
	wantColour(t, p, pixels, 56, 8, "red")
}

// TestAnimation has a second frame, and a first that covers the right half.
func TestAnimation(t *testing.T) {
	palette := color.Palette{color.RGBA{220, 20, 20, 255}, color.RGBA{0, 0, 0, 255}}
	first := image.NewPaletted(image.Rect(32, 0, 64, 32), palette)
	second := image.NewPaletted(image.Rect(0, 0, 64, 32), palette)
	for i := range second.Pix {
		second.Pix[i] = 1
	}
	var b bytes.Buffer
	err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{first, second}, Delay: []int{1, 1}, Config: image.Config{ColorModel: palette, Width: 64, Height: 32}})
	if err != nil {
		t.Fatal(err)
	}
	p, pixels := mustRead(t, b.Bytes(), "image/gif")
	if p.Width != 64 || p.Height != 32 {
		t.Fatalf("%d times %d pixels, want 64 times 32", p.Width, p.Height)
	}
	wantColour(t, p, pixels, 8, 8, "white")
	wantColour(t, p, pixels, 56, 8, "red")
}

// bomb is a small PNG that claims to be huge.
func bomb(t testing.TB, w, h uint32) []byte {
	data := encode(t, "png", paint(1, 1))
	binary.BigEndian.PutUint32(data[16:], w)
	binary.BigEndian.PutUint32(data[20:], h)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}

func TestRefused(t *testing.T) {
	whole := encode(t, "jpeg", paint(64, 64))
	for _, tt := range []struct {
		name, mediaType string
		data            []byte
		want            string
	}{
		{"many scans", "image/jpeg", append(bytes.Clone(whole), bytes.Repeat([]byte("\xff\xda"), maxScans)...), "truncated, corrupt"},
		{"a WebP with another canvas", "image/webp", withCanvas(webPData(t), 1, 1), "truncated, corrupt"},
		{"empty", "image/png", nil, "is empty"},
		{"text", "image/png", []byte("hello"), "not an image of a known format"},
		{"another kind", "image/tiff", []byte("II*\x00"), "JPEG, PNG, WebP, GIF and BMP images can be read"},
		{"wrong media type", "image/png", whole, "declared as image/png, but its data is image/jpeg"},
		{"not an image by its type", "application/pdf", whole, "declared as application/pdf"},
		{"SVG by its type", "image/svg+xml", []byte("<x/>"), "SVG images cannot be read"},
		{"SVG by its data", "image/png", []byte("\ufeff<?xml version='1.0'?>\n<!-- a --><SVG/>"), "SVG images cannot be read"},
		{"bomb", "image/png", bomb(t, 30000, 30000), "30000 times 30000 pixels, more than 50000000"},
		{"one pixel too many", "image/png", bomb(t, 50_000_001, 1), "more than 50000000"},
		{"a line", "image/png", bomb(t, 1<<16, 1), "no side may be longer than 65535"},
		{"an upright line", "image/png", bomb(t, 1, 1<<16), "no side may be longer than 65535"},
		{"sides that overflow", "image/png", bomb(t, 1<<31-1, 1<<31-1), "cannot be read"},
		{"no pixels", "image/png", bomb(t, 0, 5), "cannot be read"},
		{"no pixels in a GIF", "image/gif", []byte("GIF89a\x00\x00\x00\x00\x00\x00\x00"), "no pixels"},
		{"head alone", "image/jpeg", whole[:30], "truncated"},
		{"cut", "image/jpeg", whole[:len(whole)/2], "truncated"},
		{"cut PNG", "image/png", cutTo(encode(t, "png", paint(64, 64)), 60), "truncated"},
		{"cut GIF", "image/gif", cutTo(encode(t, "gif", paint(64, 64)), 800), "truncated"},
		{"cut BMP", "image/bmp", cutTo(encode(t, "bmp", paint(64, 64)), 500), "truncated"},
		{"cut WebP", "image/webp", cutTo(webPData(t), 28), "truncated"},
		{"too many bytes", "image/png", make([]byte, MaxBytes+1), "more than 33554432"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Open(tt.data, tt.mediaType)
			if err == nil {
				_, err = p.Pixels(t.Context())
			}
			var e *engine.Error
			if !errors.As(err, &e) || e.Code != engine.CodeInvalidArgument || !strings.Contains(e.Message, tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func cutTo(data []byte, n int) []byte { return data[:min(n, len(data)-1)] }

func TestKey(t *testing.T) {
	a, _ := mustRead(t, encode(t, "png", paint(8, 8)), "")
	b, _ := mustRead(t, encode(t, "png", paint(8, 8)), "image/png")
	c, _ := mustRead(t, encode(t, "png", paint(8, 9)), "")
	if a.Key != b.Key || a.Key == c.Key {
		t.Error("files are told apart by something else than their content")
	}
}

// FuzzPicture opens anything: no panic, no more memory than the limits allow,
// and pixels of the size that the head promised.
func FuzzPicture(f *testing.F) {
	for _, kind := range []string{"png", "jpeg", "gif", "bmp"} {
		f.Add(encode(f, kind, paint(9, 7)))
	}
	f.Add(webPData(f))
	f.Add(exifToJPEG(encode(f, "jpeg", paint(9, 7)), exifBlock(binary.BigEndian, 6)))
	f.Add(exifToPNG(encode(f, "png", paint(9, 7)), exifBlock(binary.LittleEndian, 8)))
	f.Add(exifToWebP(webPData(f), exifBlock(binary.LittleEndian, 3)))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Open(data, "")
		if err != nil || p.full.X*p.full.Y > 1<<20 {
			return
		}
		pixels, err := p.Pixels(t.Context())
		if err == nil && len(pixels) != 3*p.Width*p.Height {
			t.Errorf("%d bytes for %d times %d pixels", len(pixels), p.Width, p.Height)
		}
	})
}

// BenchmarkLarge reads a photograph of 20 megapixels.
func BenchmarkLarge(b *testing.B) {
	data := encode(b, "jpeg", paint(5200, 4000))
	for b.Loop() {
		p, err := Open(data, "")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Pixels(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPixelsEnd holds that decoding ends with its context.
func TestPixelsEnd(t *testing.T) {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 2000, 2000))); err != nil {
		t.Fatal(err)
	}
	p, err := Open(file.Bytes(), "")
	if err != nil {
		t.Fatal(err)
	}
	if p.Weight() != 4_000_000 {
		t.Errorf("the weight is %d", p.Weight())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Pixels(ctx); engine.AsError(err).Code != engine.CodeCanceled {
		t.Errorf("error %v", err)
	}
}
