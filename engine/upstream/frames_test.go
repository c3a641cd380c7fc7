package upstream

import (
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
	in := &watched{in: io.NopCloser(strings.NewReader(text)), ctx: ctx, cancel: cancel, limit: time.Minute, idle: time.Minute}
	return &reply{in: in, sent: &body{}, engine: e, ctx: t.Context(), operation: chatCompletions}
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
		{"two lines of data", "data: a\ndata: b\n\n", []string{"a\nb"}, io.EOF},
		{"comments, ids and empty frames", ": hi\n\nid: 1\nretry: 5\ndata: a\n\n\n\n", []string{"a"}, io.EOF},
		{"names", "event: x\ndata: a\n\nevent: error\ndata: b\n\ndata: c\n\n", []string{"a", "!b", "c"}, io.EOF},
		{"errors without data", "error: a\n\n", []string{"!a"}, io.EOF},
		{"no blank line at the end", "data: a\n", []string{"a"}, io.EOF},
		{"half a line at the end", "data: a\n\ndata: b", []string{"a"}, io.EOF},
		{"a long line", "data: " + long + "\n\n", []string{long}, io.EOF},
		{"a line without end", "data: " + strings.Repeat("x", maxFrame+1), nil, errFrame},
		{"lines without end", strings.Repeat("data: "+long+"\n", maxFrame/100_000+1), nil, errFrame},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := newFrames(strings.NewReader(tt.text))
			var got []string
			for {
				f, err := in.next()
				if err != nil {
					if err != tt.err {
						t.Errorf("ends with %v, want %v", err, tt.err)
					}
					break
				}
				text := string(f.data)
				if f.failed {
					text = "!" + text
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("frames (-want +got):\n%s", diff)
			}
		})
	}
}
