package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"

	"golang.org/x/image/webp"
)

func nothing([]byte) error { return nil }

// maxScans limits the scans of a progressive JPEG. About ten are usual.
const maxScans = 100

var (
	errScans  = errors.New("too many scans in a JPEG")
	errCanvas = errors.New("the frame and the canvas of a WebP differ in size")
)

// fewScans counts SOS markers: a scan of a few bytes may touch all pixels. The marker
// cannot occur in the data of a scan.
func fewScans(data []byte) error {
	if bytes.Count(data, []byte("\xff\xda")) > maxScans {
		return errScans
	}
	return nil
}

// honestCanvas compares the canvas of a WebP, which DecodeConfig returns, with the frame
// that the decoder allocates.
func honestCanvas(data []byte) error {
	if webPChunk(data, "VP8X") == nil {
		return nil // no canvas
	}
	config, err := webp.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if frameOfWebP(data) != image.Pt(config.Width, config.Height) {
		return errCanvas
	}
	return nil
}

// frameOfWebP is the size of the frame; zero if there is none.
func frameOfWebP(data []byte) image.Point {
	const bits14 = 1<<14 - 1
	if lossy := webPChunk(data, "VP8 "); len(lossy) >= 10 {
		return image.Pt(int(binary.LittleEndian.Uint16(lossy[6:])&bits14), int(binary.LittleEndian.Uint16(lossy[8:])&bits14))
	}
	if lossless := webPChunk(data, "VP8L"); len(lossless) >= 5 {
		bits := int(binary.LittleEndian.Uint32(lossless[1:]))
		return image.Pt(1+bits&bits14, 1+bits>>14&bits14)
	}
	return image.Point{}
}

// webPChunk finds the first chunk with a name: name, length, data padded to even length.
func webPChunk(data []byte, name string) []byte {
	for data = data[12:]; len(data) >= 8; {
		length := uint64(binary.LittleEndian.Uint32(data[4:]))
		if 8+length > uint64(len(data)) {
			return nil
		}
		if string(data[:4]) == name {
			return data[8 : 8+length]
		}
		length += length & 1
		if 8+length > uint64(len(data)) {
			return nil
		}
		data = data[8+length:]
	}
	return nil
}
