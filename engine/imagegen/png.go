package imagegen

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"strings"
)

// headerEnd is where the first chunk of a PNG file ends: its signature, and IHDR
// with length, type and checksum.
const headerEnd = 8 + 4 + 4 + 13 + 4

// keyword is what programs for diffusion models look for.
const keyword = "parameters"

// encodePNG writes a PNG file, with text in a chunk unless it is empty.
func encodePNG(drawn image.Image, text string) ([]byte, error) {
	var file bytes.Buffer
	if err := png.Encode(&file, drawn); err != nil || text == "" {
		return file.Bytes(), err
	}
	data := file.Bytes()
	out := make([]byte, 0, len(data)+len(text)+64)
	out = append(out, data[:headerEnd]...)
	out = append(out, textChunk(text)...)
	return append(out, data[headerEnd:]...), nil
}

// textChunk is a tEXt chunk, which more programs read, or for other characters than
// ASCII an iTXt chunk.
func textChunk(text string) []byte {
	text = strings.ReplaceAll(text, "\x00", "")
	kind, content := "tEXt", keyword+"\x00"+text
	if strings.ContainsFunc(text, func(r rune) bool { return r > 0x7e }) {
		kind, content = "iTXt", keyword+"\x00"+"\x00\x00"+"\x00"+"\x00"+text // not compressed; no language; no translation
	}
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
	chunk = append(chunk, kind+content...)
	return binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
}
