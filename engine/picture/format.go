package picture

import (
	"bytes"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	"github.com/diglot/diglot/engine"
	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"
)

// format is a file format.
type format struct {
	name      string
	mediaType string
	begins    func(data []byte) bool
	suspect   func(data []byte) error // rejects files whose cost the header does not show
	config    func(io.Reader) (image.Config, error)
	decode    func(io.Reader) (image.Image, error)
	exif      func(data []byte) []byte // returns the EXIF block, or nil
}

const gifName = "GIF"

// formats are the supported formats.
var formats = []format{
	{"JPEG", "image/jpeg", prefix("\xff\xd8\xff"), fewScans, jpeg.DecodeConfig, jpeg.Decode, exifOfJPEG},
	{"PNG", "image/png", prefix("\x89PNG\r\n\x1a\n"), nothing, png.DecodeConfig, png.Decode, exifOfPNG},
	{gifName, "image/gif", prefix("GIF8"), nothing, gif.DecodeConfig, gif.Decode, noExif},
	{"WebP", "image/webp", isWebP, honestCanvas, webp.DecodeConfig, webp.Decode, exifOfWebP},
	{"BMP", "image/bmp", prefix("BM"), nothing, bmp.DecodeConfig, bmp.Decode, noExif},
}

const readable = "JPEG, PNG, WebP, GIF and BMP images can be read"

func prefix(magic string) func([]byte) bool {
	return func(data []byte) bool { return bytes.HasPrefix(data, []byte(magic)) }
}

func isWebP(data []byte) bool {
	return len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP"
}

func noExif([]byte) []byte { return nil }

// mediaTypes are aliases.
var mediaTypes = map[string]string{
	"image/jpg":      "image/jpeg",
	"image/pjpeg":    "image/jpeg",
	"image/x-png":    "image/png",
	"image/x-ms-bmp": "image/bmp",
	"image/x-bmp":    "image/bmp",
}

// recognize finds a file's format by its magic bytes, which must match what the client
// declares.
func recognize(data []byte, mediaType string) (format, *engine.Error) {
	mediaType, _, _ = strings.Cut(strings.ToLower(mediaType), ";")
	mediaType = strings.TrimSpace(mediaType)
	if name, ok := mediaTypes[mediaType]; ok {
		mediaType = name
	}
	if len(data) == 0 {
		return format{}, invalid("The image is empty.")
	}
	if mediaType == "image/svg+xml" || isSVG(data) {
		return format{}, invalid("SVG images cannot be read; %s.", readable)
	}
	for _, f := range formats {
		if !f.begins(data) {
			continue
		}
		if mediaType != "" && mediaType != f.mediaType {
			return format{}, invalid("The image is declared as %s, but its data is %s.", mediaType, f.mediaType)
		}
		return f, nil
	}
	return format{}, invalid("The data is not an image of a known format; %s.", readable)
}

// isSVG looks for the root element near the start.
func isSVG(data []byte) bool {
	head := bytes.TrimLeft(bytes.TrimPrefix(data[:min(len(data), 1024)], []byte("\ufeff")), " \t\r\n")
	return bytes.HasPrefix(head, []byte("<")) && bytes.Contains(bytes.ToLower(head), []byte("<svg"))
}
