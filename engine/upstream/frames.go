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
	failed bool   // marked as an error
	named  bool   // with an event name of the server's own
	data   []byte // valid until the next read
}

// maxFrame limits one frame, in bytes. It may have a whole tool call, whose
// arguments may contain a file.
const maxFrame = 16 << 20

// maxNoise limits the bytes between two chunks with content: comments, blank
// lines, chunks without content.
const maxNoise = 4 << 20

var (
	errNoise  = errors.New("it has only keep-alives")
	errBehind = errors.New("data follows the JSON value")
	errFrame  = errors.New("a frame exceeds the size limit")
	errLong   = errors.New("it exceeds the size limit")
)

// frames reads the WHATWG event-stream format with the deviations of servers,
// such as lines of JSON without a field name.
type frames struct {
	in           *bufio.Reader
	left         int // bytes left of the limit of the reply, comments included
	noise        int // bytes since the last content
	reserved     int // frame size in bytes that memory is reserved for
	share        *budget.Share
	data         []byte
	line         []byte
	afterCR      bool // skip a line feed that follows
	begun        bool
	unknownLines bool // a line was not of the format
}

// failures matches the names of error events.
var failures = regexp.MustCompile(`(?i)error|exception|fail|abort`)

func newFrames(in *bufio.Reader, most int, share *budget.Share) *frames {
	return &frames{in: in, left: most, share: share, reserved: smallFrame}
}

// smallFrame is the frame size up to which no memory is reserved, in bytes.
const smallFrame = 16 << 10

// reserve reserves memory for the frame read so far.
func (f *frames) reserve() bool {
	n := len(f.data) + len(f.line)
	if n <= f.reserved {
		return true
	}
	more := max(n, 2*f.reserved) - f.reserved
	f.reserved += more
	return f.share.Reserve(int64(byteWeight * more))
}

// next returns the next frame with data, or io.EOF. The last frame may lack its
// blank line. Keep-alives are skipped: comments, frames without data, and frames
// whose data is a comment.
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
		if f.noise++; f.noise > maxNoise { // including the line end
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

// field reads a non-empty line and reports whether it is data. some: the frame
// already has data.
func (f *frames) field(line []byte, out *frame, some bool) bool {
	if line[0] == '{' { // an error sent as if the reply were not streamed
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
		f.unknownLines = true
	}
	return false
}

func (f *frames) add(value []byte, some bool) {
	if some {
		f.data = append(f.data, '\n')
	}
	f.data = append(f.data, value...)
}

// completes reports whether the last line, which lacks its line end, is complete.
func completes(line []byte) bool {
	_, value, ok := bytes.Cut(line, []byte(":"))
	return line[0] == '{' && json.Valid(line) || ok && (json.Valid(value) || bytes.Equal(bytes.TrimSpace(value), doneMark))
}

// read returns the next line without its end, valid until the next call. At the
// end of the input it returns the rest and io.EOF.
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
		case !f.reserve():
			return nil, errFull
		case len(f.line) > maxFrame:
			return nil, errFrame
		case end < len(piece):
			return f.first(), nil
		}
	}
}

// first removes the byte order mark from the first line.
func (f *frames) first() []byte {
	if f.begun {
		return f.line
	}
	f.begun = true
	return bytes.TrimPrefix(f.line, []byte("\ufeff"))
}

func (f *frames) discard(n int) {
	_, _ = f.in.Discard(n) // never more than was peeked
	f.left -= n
}
