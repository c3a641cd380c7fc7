package terminal

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vbauerster/mpb/v8"
)

func TestIs(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for name, stream := range map[string]any{"pipe": r, "other end": w, "buffer": &bytes.Buffer{}, "nothing": nil} {
		if Is(stream) {
			t.Errorf("%s is taken for a terminal", name)
		}
	}
	if restore, err := Raw(r); err != nil {
		t.Errorf("a pipe made raw: %v", err)
	} else {
		restore()
	}
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	err := Table(&out, []string{"NAME", "SIZE"}, [][]string{{"m", "1 kB"}, {"grüße:latest", "10 GB"}, {"evil\n\x1b[2Jx", "0 B"}})
	if err != nil {
		t.Fatal(err)
	}
	want := "NAME            SIZE\nm               1 kB\ngrüße:latest    10 GB\nevil [2Jx       0 B\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1 KB", 397_821_319: "397.8 MB", 4_683_087_332: "4.683 GB"} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestText(t *testing.T) {
	for _, tt := range []struct{ in, plain, text string }{
		{"a\tb\nc", "a b c", "a\tb\nc"},
		{"\x1b]52;c;ZXZpbA==\a", "]52;c;ZXZpbA==", "]52;c;ZXZpbA=="},
		{"\u009b2J\x7f\x00\r", "2J", "2J"},
		{"a\u202egnp.exe", "agnp.exe", "agnp.exe"},
		{"你好 👍🏽 é", "你好 👍🏽 é", "你好 👍🏽 é"},
	} {
		if got := Plain(tt.in); got != tt.plain {
			t.Errorf("Plain(%q) = %q, want %q", tt.in, got, tt.plain)
		}
		if got := Text(tt.in); got != tt.text {
			t.Errorf("Text(%q) = %q, want %q", tt.in, got, tt.text)
		}
	}
}

// steps are two parts whose updates come in turns, as those of a pull do.
var steps = []Step{
	{"a", "model", 0, 0},
	{"a", "model", 0, 2e9},
	{"b", "template", 0, 50},
	{"a", "model", 1e8, 2e9},
	{"a", "model", 4.5e8, 2e9},
	{"b", "template", 25, 50},
	{"b", "template", 50, 50},
	{"a", "model", 5e8, 2e9},
	{"a", "model", 2e9 - 1, 2e9},
	{"a", "model", 2e9, 2e9},
	{"a", "model", 2e9, 2e9},
}

func TestLines(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out)
	for _, s := range steps {
		p.Update(s)
	}
	p.Say("all is \x1b[1mthere")
	p.Close()
	want := "model\nmodel: 0 % of 2 GB\nmodel: 22 % of 2 GB\ntemplate: done, 50 B\n" +
		"model: 99 % of 2 GB\nmodel: done, 2 GB\nall is [1mthere\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestBars(t *testing.T) {
	var out bytes.Buffer
	refresh := make(chan any)
	b := newBars(&out, mpb.WithManualRefresh(refresh), mpb.ForceTTY())
	for _, s := range steps[:5] {
		b.Update(s)
	}
	refresh <- time.Now()
	b.Say("something to say")
	b.Close()
	b.Close()
	b.Update(steps[5])
	b.Say("after the end")
	got := out.String()
	for _, want := range []string{"model", "template", "450 MB / 2 GB", "something to say\n", "after the end\n", "[==="} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%q", want, got)
		}
	}
}

func TestAsk(t *testing.T) {
	for _, tt := range []struct {
		typed, want string
		err         error
	}{
		{"yes\r", "yes", nil}, {" n \r", "n", nil}, {"\r", "", nil}, {"ye\x03", "", ErrInterrupted}, {"\x04", "", ErrInterrupted},
	} {
		var out bytes.Buffer
		got, err := Ask(strings.NewReader(tt.typed), &out, "Sure? ")
		if got != tt.want || err != tt.err || !strings.HasPrefix(out.String(), "Sure? ") {
			t.Errorf("Ask after %q = %q, %v; shown %q", tt.typed, got, err, out.String())
		}
	}
}

func TestReadSecret(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"key\n", "key"}, {"key", "key"}, {" key \r\nmore\n", "key"}, {"", ""}, {strings.Repeat("k", maxLine+1), strings.Repeat("k", maxLine)},
	} {
		got, err := ReadSecret(strings.NewReader(tt.in), io.Discard, "Key: ")
		if got != tt.want || err != nil {
			t.Errorf("ReadSecret(%.20q) = %.20q, %v", tt.in, got, err)
		}
	}
}
