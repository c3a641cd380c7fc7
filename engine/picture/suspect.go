package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"

	"golang.org/x/image/webp"
)

func nothing([]byte) error { return nil }

// maxScans is how often a JPEG may go over its pixels to refine them. Cameras
// and programs write about ten scans.
const maxScans = 100

var (
	errScans  = errors.New("a JPEG with very many scans")
	errCanvas = errors.New("a WebP whose frame is not as large as its canvas")
)

// fewScans counts the markers that begin a scan. Each may go over all pixels,
// and take no more than some bytes. The marker stands nowhere among the data of
// a scan.
func fewScans(data []byte) error {
	if bytes.Count(data, []byte("\xff\xda")) > maxScans {
		return errScans
	}
	return nil
}

// honestCanvas compares the canvas of a WebP, which is all that the decoder
// tells before it decodes, with the frame that it then makes room for.
func honestCanvas(data []byte) error {
	if webPChunk(data, "VP8X") == nil {
		return nil // there is but one size
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

// frameOfWebP is the size of the frame; zero where there is none.
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

// webPChunk finds the first chunk of a name: name, length, data of an even
// length.
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
