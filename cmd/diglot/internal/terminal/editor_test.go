package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// messages types keys into an editor and returns what it reads until the
// keys end, errors as their text.
func messages(t *testing.T, in io.Reader, history *History) []string {
	t.Helper()
	e, err := OpenEditor(in, io.Discard, history)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var got []string
	for {
		text, err := e.ReadMessage(t.Context(), "> ", ". ")
		switch {
		case errors.Is(err, io.EOF):
			return got
		case err != nil:
			text = "error: " + err.Error()
		}
		got = append(got, text)
	}
}

func TestReadMessage(t *testing.T) {
	long := strings.Repeat("a line of a long text\n", 300) + "end"
	for _, tt := range []struct {
		name, keys string
		want       []string
	}{
		{"a line", "hello\r", []string{"hello"}},
		{"other alphabets", "grüße 你好\r", []string{"grüße 你好"}},
		{"edited", "helo\x1b[Dl\r", []string{"hello"}},
		{"the line before", "one\rtwo\r\x1b[A\x1b[A\r", []string{"one", "two", "one"}},
		{"a message of lines again", "\"\"\"one\rtwo\"\"\"\r\x1b[A\r", []string{"one\ntwo", "one\ntwo"}},
		{"pasted lines again", "\x1b[200~one\ntwo\x1b[201~\r\x1b[A!\r", []string{"one\ntwo", "one\ntwo!"}},
		{"a long paste again", "\x1b[200~" + long + "\x1b[201~\r\x1b[A\r", []string{long, long}},
		{"what was stopped is not kept", "one\r\"\"\"two\r\x03\x1b[A\r", []string{"one", "error: interrupted", "one"}},
		{"several lines", "\"\"\"one\rtwo\rthree\"\"\"\r", []string{"one\ntwo\nthree"}},
		{"several lines, marks alone", "\"\"\"\rone\r\r two\r\"\"\"\rnext\r", []string{"one\n\n two", "next"}},
		{"marks on one line", "\"\"\"one\"\"\"\r", []string{"one"}},
		{"marks without an end", "\"\"\"one\r", nil},
		{"pasted line", "\x1b[200~hello\x1b[201~\r", []string{"hello"}},
		{"pasted lines", "see: \x1b[200~one\rtwo\nthree\r\nfour\x1b[201~ ok\r", []string{"see: one\ntwo\nthree\nfour ok"}},
		{"pasted controls", "\x1b[200~a\x03b\x1b[31mc\x04\x1b[201~\r", []string{"ab[31mc"}},
		{"pasted, and long", "see \x1b[200~" + long + "\x1b[201~\r", []string{"see " + long}},
		{"pasted twice", "\x1b[200~" + long + "\x1b[201~ \x1b[200~" + long + "2\x1b[201~\r", []string{long + " " + long + "2"}},
		{"keys that do nothing", "a\x1bb\x1b[15~\x1b[1;5@\x1b\x1b\x1b[" + strings.Repeat("1", 300) + "c\xff\xc3\r", []string{"a" + strings.Repeat("1", 270) + "c"}},
		{"stopped", "hel\x03hello\r", []string{"error: interrupted", "hello"}},
		{"stopped in the middle", "hello\x1b[D\x1b[D\x03next\r", []string{"error: interrupted", "next"}},
		{"stopped, nothing typed", "\x03", []string{"error: interrupted"}},
		{"stopped among lines", "\"\"\"one\r\x03two\r", []string{"error: interrupted", "two"}},
		{"typed ahead, then stopped", "one\r\x03two\r", []string{"one", "error: interrupted", "two"}},
		{"left", "one\r\x04two\r", []string{"one"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for way, in := range map[string]io.Reader{
				"at once":     strings.NewReader(tt.keys),
				"by the byte": iotest.OneByteReader(strings.NewReader(tt.keys)),
			} {
				if diff := cmp.Diff(tt.want, messages(t, in, &History{})); diff != "" {
					t.Errorf("%s (-want +got):\n%s", way, diff)
				}
			}
		})
	}
}

func TestInterruptible(t *testing.T) {
	in, typing := io.Pipe()
	defer typing.Close()
	e, err := OpenEditor(in, io.Discard, &History{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	answering, stop := e.Interruptible(t.Context())
	fmt.Fprint(typing, "typed ahead\r\x03")
	<-answering.Done()
	stop()
	answering, stop = e.Interruptible(t.Context())
	fmt.Fprint(typing, "next\r")
	if answering.Err() != nil {
		t.Error("the second answer was stopped by the first Ctrl-C")
	}
	stop()
	got, err := e.ReadMessage(t.Context(), "> ", ". ")
	if got != "next" || err != nil {
		t.Errorf("read %q, %v; want what was typed after Ctrl-C", got, err)
	}
}

func TestReadMessageEndsWithItsContext(t *testing.T) {
	in, typing := io.Pipe()
	defer typing.Close()
	e, err := OpenEditor(in, io.Discard, &History{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.ReadMessage(ctx, "> ", ". "); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestEditorWrites(t *testing.T) {
	var out bytes.Buffer
	e, err := OpenEditor(strings.NewReader("a\r"), &out, &History{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.ReadMessage(t.Context(), "> ", ". "); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(e, "one\ntwo\n")
	if _, err := e.ReadMessage(t.Context(), "> ", ". "); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	e.Close()
	want := "\x1b[?2004h> a\r\none\r\ntwo\r\n> \r\n\x1b[?2004l"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "history")
	open := func() *History {
		t.Helper()
		h, err := OpenHistory(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		return h
	}
	messages(t, strings.NewReader("one\rtwo\rtwo\r\r  \r\x03\"\"\"three\r\x1b[200~four\nfive\x1b[201~\"\"\"\r"), open())
	h := open()
	var got []string
	for i := range h.Len() {
		got = append(got, h.At(i))
	}
	if diff := cmp.Diff([]string{`"""three⏎four⏎five"""`, "two", "one"}, got); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	messages(t, strings.NewReader("\x1b[200~"+strings.Repeat("long ", 200)+"\x1b[201~\r"), open())
	if newest := open().At(0); newest != got[0] {
		t.Errorf("the newest entry is %q; a note means nothing in another run", newest)
	}
	h.Add(strings.Repeat("x", maxEntry))
	if newest := open().At(0); newest != got[0] || len(h.At(0)) != maxEntry {
		t.Errorf("a huge entry is not kept for this run alone: %.20q, and in the next one %.20q", h.At(0), newest)
	}
	h = open()
	h.Pause()
	h.Add("not kept")
	h.Resume()
	if newest := h.At(0); newest != got[0] {
		t.Errorf("the newest entry after a pause is %q", newest)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v; the file holds prompts", info.Mode(), err)
	}
	for i := range maxHistory + 10 {
		h.Add(fmt.Sprint("entry ", i))
	}
	if h := open(); h.Len() != maxHistory || h.At(0) != fmt.Sprint("entry ", maxHistory+9) {
		t.Errorf("%d entries, the newest %q", h.Len(), h.At(0))
	}
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte("hello\r\x1b[200~a\nb\x1b[201~\r\x03\"\"\"\rx\r\"\"\"\r"), 3)
	f.Add([]byte("\x1b[200~\x1b[201\x1b[201~\x1b[2"), 1)
	f.Fuzz(func(t *testing.T, typed []byte, cut int) {
		cut = min(max(cut, 0), len(typed))
		whole := messages(t, bytes.NewReader(typed), &History{})
		pieces := messages(t, io.MultiReader(bytes.NewReader(typed[:cut]), bytes.NewReader(typed[cut:])), &History{})
		if diff := cmp.Diff(whole, pieces); diff != "" {
			t.Errorf("cut at %d of %q (-whole +pieces):\n%s", cut, typed, diff)
		}
	})
}
