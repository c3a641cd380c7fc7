package upstream

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// readerReply is a reply whose body is text.
func readerReply(t testing.TB, text string) *reply {
	t.Helper()
	e, err := New(Config{BaseURL: "https://example.com/v1", Model: "m", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	in := &timedBody{in: io.NopCloser(strings.NewReader(text)), ctx: ctx, cancel: cancel, limit: time.Minute, idle: time.Minute, contentless: time.Minute}
	return &reply{in: in, sent: &body{}, engine: e, ctx: t.Context(), op: operation{name: chatCompletions}}
}

func TestFrames(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	tests := []struct {
		name, text string
		want       []string // data, with ! before that of an error
		err        error
	}{
		{"frames", "data: a\n\ndata: b\n\n", []string{"a", "b"}, io.EOF},
		{"no space", "data:a\n\n", []string{"a"}, io.EOF},
		{"carriage returns", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}, io.EOF},
		{"carriage returns alone", "data: a\r\rdata: b\r\r", []string{"a", "b"}, io.EOF},
		{"line ends of all kinds", "data: a\r\n\ndata: b\n\r\ndata: c\r\n\rdata: d\r\n\r\n", []string{"a", "b", "c", "d"}, io.EOF},
		{"the mark of UTF-8", "\ufeffdata: a\n\n\ufeffdata: b\n\n", []string{"a"}, io.EOF},
		{"two lines of data", "data: a\ndata: b\n\n", []string{"a\nb"}, io.EOF},
		{"comments, ids and empty frames", ": hi\n\nid: 1\nretry: 5\ndata: a\n\n\n\n", []string{"a"}, io.EOF},
		{"noise alone", "\n\nid: 1\n\nretry: 5\n\nevent: ping\n\nnonsense\n\n:\n", nil, io.EOF},
		{"empty data", "data:\n\ndata: \n\ndata\n\ndata: \ndata:  \n\ndata: a\n\n", []string{"a"}, io.EOF},
		{"data that is a comment", "data: : OPENROUTER PROCESSING\n\ndata:: ping\n\ndata: a\n\n", []string{"a"}, io.EOF},
		{"names", "event: x\ndata: a\n\nevent: error\ndata: b\n\ndata: c\n\n", []string{"~a", "!b", "c"}, io.EOF},
		{"the name of a frame without data", "event: x\n\ndata: c\n\n", []string{"c"}, io.EOF},
		{"an error without data", "event: error\n\n", []string{"!"}, io.EOF},
		{"errors without data", "error: a\n\n", []string{"!a"}, io.EOF},
		{"no blank line at the end", "data: a\n", []string{"a"}, io.EOF},
		{"half a line at the end", "data: a\n\ndata: b", []string{"a"}, io.EOF},
		{"half a value at the end", "data: a\n\ndata: {\"a\":1", []string{"a"}, io.EOF},
		{"a whole value at the end", "data: a\n\ndata: {\"a\":1}", []string{"a", `{"a":1}`}, io.EOF},
		{"the mark of the end without a line end", "data: a\n\ndata: [DONE]", []string{"a", "[DONE]"}, io.EOF},
		{"a line of JSON", "data: a\n\n{\"error\":\"b\"}\n", []string{"a", `{"error":"b"}`}, io.EOF},
		{"a long line", "data: " + long + "\n\n", []string{long}, io.EOF},
		{"a line without end", "data: " + strings.Repeat("x", maxFrame+1), nil, errFrame},
		{"lines without end", strings.Repeat("data: "+long+"\n", maxFrame/100_000+1), nil, errFrame},
		{"comments without end", strings.Repeat(": "+long+"\n\n", maxNoise/100_000+1), nil, errNoise},
		{"blank lines without end", strings.Repeat("\n", maxNoise+1), nil, errNoise},
		{"empty data without end", strings.Repeat("data:\n\n", maxNoise/2+1), nil, errNoise},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 7, 1 << 16} { // bytes that come at once
				readFrames(t, tt.text, size, tt.want, tt.err)
			}
		})
	}
}

func readFrames(t *testing.T, text string, size int, want []string, end error) {
	t.Helper()
	if len(text) > 1<<16 && size < 1<<16 {
		return
	}
	in := newFrames(bufio.NewReader(&pieces{text, size}), maxFrame+1<<20, nil)
	var got []string
	for {
		f, err := in.next()
		if err != nil {
			if err != end {
				t.Errorf("in pieces of %d: ends with %v, want %v", size, err, end)
			}
			break
		}
		text := string(f.data)
		switch {
		case f.failed:
			text = "!" + text
		case f.named:
			text = "~" + text
		}
		got = append(got, text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in pieces of %d (-want +got):\n%s", size, diff)
	}
}

// pieces gives out a text in pieces.
type pieces struct {
	text string
	size int
}

func (s *pieces) Read(p []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.size)], s.text)
	s.text = s.text[n:]
	return n, nil
}
