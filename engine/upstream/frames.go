package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// frame is one server-sent event of a reply.
type frame struct {
	failed bool   // it is marked as an error
	data   []byte // until the next read
}

// maxFrame is the most bytes of one frame: a whole call may be in it, and its
// arguments may hold a file.
const maxFrame = 16 << 20

var errFrame = errors.New("a frame is longer than a frame may be")

// frames reads the WHATWG event-stream format, as far as servers use it.
type frames struct {
	in   *bufio.Reader
	data []byte
	line []byte
}

func newFrames(in io.Reader) *frames { return &frames{in: bufio.NewReaderSize(in, 16<<10)} }

// next returns the next frame that holds anything, or io.EOF at the end; a
// last frame may lack its blank line. Comments, which keep a connection alive,
// are skipped.
func (f *frames) next() (frame, error) {
	var out frame
	f.data = f.data[:0]
	some := false
	for {
		line, err := f.read()
		if err == io.EOF && some {
			out.data = f.data
			return out, nil
		}
		if err != nil {
			return frame{}, err
		}
		if len(line) == 0 {
			if some {
				out.data = f.data
				return out, nil
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			out.failed = string(value) == "error"
		case "error": // older llama-server
			out.failed = true
			fallthrough
		case "data":
			if some {
				f.data = append(f.data, '\n')
			}
			some = true
			f.data = append(f.data, value...)
		}
		if len(f.data) > maxFrame {
			return frame{}, errFrame
		}
	}
}

// read returns the next line, without its end, until the next call. An end of
// the input within a line is not a line.
func (f *frames) read() ([]byte, error) {
	f.line = f.line[:0]
	for {
		piece, err := f.in.ReadSlice('\n')
		f.line = append(f.line, piece...)
		switch {
		case len(f.line) > maxFrame:
			return nil, errFrame
		case err == nil:
			return bytes.TrimRight(f.line, "\r\n"), nil
		case err != bufio.ErrBufferFull:
			return nil, err
		}
	}
}
