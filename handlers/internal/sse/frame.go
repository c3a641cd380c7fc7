// Package sse writes server-sent events: the frames of the event-stream
// format, and the loop that turns the events of an engine into them.
//
// The format is the WHATWG one: https://html.spec.whatwg.org/multipage/server-sent-events.html
package sse

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/diglot/diglot/internal/plainjson"
)

// Frame is one event, or a comment that clients skip.
type Frame struct {
	Event   string // empty: a frame without a name
	Data    []byte // one line
	Comment string // set: the frame is this comment and nothing else
}

// NewFrame is a frame whose data is the JSON of data. Nothing is escaped that
// JSON does not ask for, but for characters at which some clients end a line.
func NewFrame(event string, data any) Frame {
	b, _ := plainjson.Marshal(data) // the generated types hold nothing that cannot be encoded
	return Frame{Event: event, Data: oneLine(b)}
}

// lineEnds are characters that the event-stream format does not take for the
// end of a line, and line readers of Python do, such as those of httpx: there
// the rest of the data would be lost.
var lineEnds = []struct{ plain, escaped []byte }{
	{[]byte("\u0085"), []byte(`\u0085`)},
	{[]byte("\u2028"), []byte(`\u2028`)},
	{[]byte("\u2029"), []byte(`\u2029`)},
}

// oneLine escapes line ends in JSON, where they stand in strings alone.
func oneLine(b []byte) []byte {
	for _, end := range lineEnds {
		if bytes.Contains(b, end.plain) {
			b = bytes.ReplaceAll(b, end.plain, end.escaped)
		}
	}
	return b
}

// Append adds the frame and its blank line to b. Clients drop a frame whose
// blank line is missing, and some forget half a frame at the end of a read:
// so a frame always goes out whole, in one write. A comment has no blank line
// of its own and begins the next frame: some clients take each blank line for
// the end of an event, and cannot read one without data.
func (f Frame) Append(b []byte) []byte {
	if f.Comment != "" {
		return append(append(append(b, ": "...), f.Comment...), '\n')
	}
	if f.Event != "" {
		b = append(append(append(b, "event: "...), f.Event...), '\n')
	}
	return append(append(append(b, "data: "...), f.Data...), "\n\n"...)
}

// Reader reads frames back; comments and unknown fields are skipped.
type Reader struct{ in *bufio.Reader }

// NewReader reads the frames of r.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReader(r)} }

// Next returns the next frame, or io.EOF. A last frame without its blank line
// is not a frame.
func (r *Reader) Next() (Frame, error) {
	var f Frame
	var data [][]byte
	for {
		line, err := r.in.ReadString('\n')
		if err != nil {
			return Frame{}, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			if data == nil && f.Event == "" {
				continue
			}
			f.Data = bytes.Join(data, []byte("\n"))
			return f, nil
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			f.Event = value
		case "data":
			data = append(data, []byte(value))
		}
	}
}
