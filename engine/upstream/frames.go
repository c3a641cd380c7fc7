package upstream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"

	"github.com/diglot/diglot/internal/budget"
)

// frame is one server-sent event of a reply.
type frame struct {
	failed bool   // it is marked as an error
	named  bool   // it has a name of the server's own
	data   []byte // until the next read
}

// maxFrame is the most bytes of one frame: a whole call may be in it, and its
// arguments may hold a file.
const maxFrame = 16 << 20

// maxNoise is the most bytes between two pieces of an answer that are none of
// it: comments, blank lines, chunks without content.
const maxNoise = 4 << 20

var (
	errNoise  = errors.New("it is signs of life alone")
	errBehind = errors.New("something comes behind the value")
	errFrame  = errors.New("a frame is longer than a frame may be")
	errLong   = errors.New("it is longer than a reply may be")
)

// frames reads the WHATWG event-stream format, as servers write it: with line
// ends of any kind, and with lines of JSON that have no field name.
type frames struct {
	in      *bufio.Reader
	left    int // bytes that the reply may still have, comments and all
	noise   int // bytes since the last content
	held    int // bytes of a frame that there is memory for
	share   *budget.Share
	data    []byte
	line    []byte
	afterCR bool // a line feed that comes next belongs to the line before
	begun   bool
	odd     bool // there was a line that is not of the format
}

// failures are the names of events that tell an error.
var failures = regexp.MustCompile(`(?i)error|exception|fail|abort`)

func newFrames(in *bufio.Reader, most int, share *budget.Share) *frames {
	return &frames{in: in, left: most, share: share, held: smallFrame}
}

// smallFrame is the most bytes of a frame that nothing is reserved for.
const smallFrame = 16 << 10

// hold reserves memory for as long a frame as has come so far.
func (f *frames) hold() bool {
	n := len(f.data) + len(f.line)
	if n <= f.held {
		return true
	}
	more := max(n, 2*f.held) - f.held
	f.held += more
	return f.share.Reserve(int64(weight * more))
}

// next returns the next frame that holds anything, or io.EOF at the end; a
// last frame may lack its blank line. What only keeps a connection alive is
// skipped: comments, frames without data, and such whose data is a comment.
func (f *frames) next() (frame, error) {
	var out frame
	f.data = f.data[:0]
	some := false
	for {
		line, err := f.read()
		if err != nil && err != io.EOF {
			return frame{}, err
		}
		if len(line) > 0 && (err == nil || completes(line)) {
			data := f.field(line, &out, some)
			some = some || data
			if !data {
				f.noise += len(line)
			}
		}
		if f.noise++; f.noise > maxNoise { // with the line's end
			return frame{}, errNoise
		}
		if len(f.data) > maxFrame {
			return frame{}, errFrame
		}
		if len(line) > 0 && err == nil {
			continue
		}
		out.data = bytes.TrimSpace(f.data)
		if out.failed || len(out.data) > 0 && out.data[0] != ':' {
			return out, nil
		}
		if err != nil {
			return frame{}, err
		}
		f.noise += len(f.data)
		out, f.data, some = frame{}, f.data[:0], false
	}
}

// field reads a line that is not empty, and reports whether it is data. some says
// that the frame has data already.
func (f *frames) field(line []byte, out *frame, some bool) bool {
	if line[0] == '{' { // no field: the error of a server that has forgotten that it streams
		f.add(line, some)
		return true
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		out.failed = failures.Match(value)
		out.named = len(value) > 0 && string(value) != "message" && !out.failed
	case "error": // older llama-server
		out.failed = true
		f.add(value, some)
		return true
	case "data":
		f.add(value, some)
		return true
	case "", "id", "retry":
	default:
		f.odd = true
	}
	return false
}

func (f *frames) add(value []byte, some bool) {
	if some {
		f.data = append(f.data, '\n')
	}
	f.data = append(f.data, value...)
}

// completes reports whether the beginning of a line, behind which the input ends,
// is a whole one.
func completes(line []byte) bool {
	_, value, ok := bytes.Cut(line, []byte(":"))
	return line[0] == '{' && json.Valid(line) || ok && (json.Valid(value) || bytes.Equal(bytes.TrimSpace(value), doneMark))
}

// read returns the next line, without its end, until the next call. At the end
// of the input it returns what the last line has, with io.EOF.
func (f *frames) read() ([]byte, error) {
	f.line = f.line[:0]
	for {
		if _, err := f.in.Peek(1); err != nil {
			return f.line, err
		}
		piece, _ := f.in.Peek(f.in.Buffered())
		if f.afterCR && piece[0] == '\n' {
			f.discard(1)
		}
		if f.afterCR {
			f.afterCR = false
			continue
		}
		end := bytes.IndexByte(piece, '\n')
		if end < 0 {
			end = len(piece)
		}
		if cr := bytes.IndexByte(piece[:end], '\r'); cr >= 0 {
			end, f.afterCR = cr, true
		}
		f.line = append(f.line, piece[:end]...)
		f.discard(min(end+1, len(piece)))
		switch {
		case f.left < 0:
			return nil, errLong
		case !f.hold():
			return nil, errFull
		case len(f.line) > maxFrame:
			return nil, errFrame
		case end < len(piece):
			return f.first(), nil
		}
	}
}

// first takes the mark of UTF-8 off the first line.
func (f *frames) first() []byte {
	if f.begun {
		return f.line
	}
	f.begun = true
	return bytes.TrimPrefix(f.line, []byte("\ufeff"))
}

func (f *frames) discard(n int) {
	_, _ = f.in.Discard(n) // they were peeked at
	f.left -= n
}
