package picture

import (
	"bytes"
	"encoding/binary"
	"image"
)

// orientation is the EXIF orientation. 1 is upright.
type orientation uint16

// Whether rows and columns are swapped, and which axes of the upright picture are flipped.
var turns = [9]struct{ swap, flipX, flipY bool }{
	2: {flipX: true},
	3: {flipX: true, flipY: true},
	4: {flipY: true},
	5: {swap: true},
	6: {swap: true, flipX: true},
	7: {swap: true, flipX: true, flipY: true},
	8: {swap: true, flipY: true},
}

// size is the size of a stored picture of size p after rotating.
func (o orientation) size(p image.Point) image.Point {
	if turns[o].swap {
		return image.Pt(p.Y, p.X)
	}
	return p
}

// pack rotates a picture and drops alpha.
func (o orientation) pack(m *image.RGBA) []byte {
	turn := turns[o]
	size := o.size(m.Rect.Size())
	rgb := make([]byte, 0, 3*size.X*size.Y)
	for y := range size.Y {
		for x := range size.X {
			sx, sy := x, y
			if turn.flipX {
				sx = size.X - 1 - x
			}
			if turn.flipY {
				sy = size.Y - 1 - y
			}
			if turn.swap {
				sx, sy = sy, sx
			}
			i := sy*m.Stride + 4*sx
			rgb = append(rgb, m.Pix[i], m.Pix[i+1], m.Pix[i+2])
		}
	}
	return rgb
}

func (f format) orientation(data []byte) orientation {
	return readOrientation(f.exif(data))
}

// readOrientation finds the tag in the first directory of a TIFF block. It returns 1 if
// it is missing or invalid.
func readOrientation(tiff []byte) orientation {
	const tagOrientation, typeShort, entrySize = 0x0112, 3, 12
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.LittleEndian
	if string(tiff[:2]) == "MM" {
		order = binary.BigEndian
	}
	start := uint64(order.Uint32(tiff[4:]))
	if start+2 > uint64(len(tiff)) {
		return 1
	}
	count := int(order.Uint16(tiff[start:]))
	entries := tiff[start+2:]
	for i := 0; i < count && (i+1)*entrySize <= len(entries); i++ {
		entry := entries[i*entrySize:]
		if order.Uint16(entry) != tagOrientation || order.Uint16(entry[2:]) != typeShort {
			continue
		}
		if o := order.Uint16(entry[8:]); o >= 1 && int(o) < len(turns) {
			return orientation(o)
		}
		return 1
	}
	return 1
}

// exifOfJPEG searches the segments before the first scan.
func exifOfJPEG(data []byte) []byte {
	const markerAPP1, markerSOS = 0xe1, 0xda
	for data = data[2:]; len(data) >= 4 && data[0] == 0xff; {
		marker, length := data[1], int(binary.BigEndian.Uint16(data[2:]))
		if marker == 0xff { // padding
			data = data[1:]
			continue
		}
		if marker == markerSOS || length < 2 || 2+length > len(data) {
			return nil
		}
		if exif, ok := bytes.CutPrefix(data[4:2+length], []byte("Exif\x00\x00")); ok && marker == markerAPP1 {
			return exif
		}
		data = data[2+length:]
	}
	return nil
}

// exifOfPNG searches the chunks: length, name, data, checksum.
func exifOfPNG(data []byte) []byte {
	for data = data[8:]; len(data) >= 12; {
		length := uint64(binary.BigEndian.Uint32(data))
		if 12+length > uint64(len(data)) {
			return nil
		}
		if string(data[4:8]) == "eXIf" {
			return data[8 : 8+length]
		}
		data = data[12+length:]
	}
	return nil
}

func exifOfWebP(data []byte) []byte {
	return bytes.TrimPrefix(webPChunk(data, "EXIF"), []byte("Exif\x00\x00"))
}
