package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
)

// ErrInterrupted is the error for Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// fence starts and ends a message of several lines.
const fence = `"""`

// Editor reads messages from a terminal, with the editing and history keys of a
// shell. Write prints other text at any time.
type Editor struct {
	keys    *keys
	history *History
	restore func()

	mu      sync.Mutex // guards the following: text may be written while the user types
	screen  painter
	prompt  string
	line    line
	recalls int    // history index of the line; 0: a new line
	fresh   string // the new line, while an entry is shown
}

// OpenEditor puts a terminal into raw mode until Close. A goroutine reads in until
// its end, even after Close.
func OpenEditor(in io.Reader, out io.Writer, history *History) (*Editor, error) {
	restore, err := Raw(in)
	if err != nil {
		return nil, err
	}
	e := &Editor{keys: newKeys(in), history: history, restore: restore}
	e.screen = painter{out: out, size: func() (int, int) { return size(out) }}
	e.screen.write(pasteOn)
	return e, nil
}

// pasteOn enables bracketed paste.
const pasteOn, pasteOff = "\x1b[?2004h", "\x1b[?2004l"

// History is the input history.
func (e *Editor) History() *History { return e.history }

// Close restores the terminal.
func (e *Editor) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.screen.write(pasteOff)
	e.restore()
}

// Write implements io.Writer. It converts newlines for raw mode, and prints above
// the line that is being edited.
func (e *Editor) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	typing := e.screen.active
	e.screen.erase()
	text := bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))
	if typing && !bytes.HasSuffix(p, []byte("\n")) {
		text = append(text, "\r\n"...)
	}
	if _, err := e.screen.out.Write(text); err != nil {
		return 0, err
	}
	if typing {
		e.screen.paint(e.prompt, &e.line)
	}
	return len(p), nil
}

// Interruptible is a context that Ctrl-C ends, until stop is called. Other input is
// kept for the next message.
func (e *Editor) Interruptible(ctx context.Context) (answering context.Context, stop func()) {
	return e.keys.interruptible(ctx)
}

// ReadMessage reads a message: one line, or several between two """, for which
// more is the prompt after the first. The history keeps it as one entry. The
// error is ErrInterrupted for Ctrl-C, io.EOF for Ctrl-D, or that of ctx.
func (e *Editor) ReadMessage(ctx context.Context, prompt, more string) (string, error) {
	defer context.AfterFunc(ctx, func() { e.keys.fail(ctx.Err()) })()
	line, err := e.readLine(prompt)
	if err != nil {
		return "", err
	}
	typed := []string{line}
	for open(e.keys.expand(line)) {
		next, err := e.readLine(more)
		if err != nil {
			return "", err
		}
		typed = append(typed, next)
		line += "\n" + next
	}
	e.remember(strings.Join(typed, string(lineEnd)))
	return unfence(e.keys.expand(line)), nil
}

// remember adds to the history. An entry with a paste note is not saved, because
// the note has a meaning only in this run.
func (e *Editor) remember(line string) {
	if e.keys.noted(line) {
		e.history.keep(line)
		return
	}
	e.history.Add(line)
}

// open reports whether a message has an opening fence but no closing one.
func open(text string) bool {
	text, fenced := strings.CutPrefix(strings.TrimLeft(text, " "), fence)
	return fenced && !strings.HasSuffix(strings.TrimRight(text, " "), fence)
}

// unfence removes the fences of a message.
func unfence(text string) string {
	inner, fenced := strings.CutPrefix(strings.TrimLeft(text, " "), fence)
	if !fenced {
		return text
	}
	return strings.Trim(strings.TrimSuffix(strings.TrimRight(inner, " "), fence), "\n")
}

// readLine edits a line until a key ends it.
func (e *Editor) readLine(prompt string) (string, error) {
	e.begin(prompt)
	for {
		key, more, err := e.keys.next()
		if err != nil {
			return "", e.end("", err)
		}
		switch {
		case key == "\r" || key == "\n":
			return e.line.String(), e.end("", nil)
		case key == ctrlC:
			return "", e.end("^C", ErrInterrupted)
		case key == ctrlD && len(e.line.clusters) == 0:
			return "", e.end("", io.EOF)
		}
		e.press(key, more)
	}
}

func (e *Editor) begin(prompt string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.prompt, e.line, e.recalls, e.fresh = prompt, line{}, 0, ""
	e.screen.paint(prompt, &e.line)
}

// end leaves the line on the screen and moves to the next row.
func (e *Editor) end(mark string, err error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.screen.finish(e.prompt, &e.line, mark)
	return err
}

// press handles a key. It does not repaint while more keys are waiting.
func (e *Editor) press(key string, more bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	edit, known := edits[key]
	switch {
	case key == "\x1b[A" || key == "\x1bOA" || key == "\x10":
		e.recall(e.recalls + 1)
	case key == "\x1b[B" || key == "\x1bOB" || key == "\x0e":
		e.recall(e.recalls - 1)
	case key == "\x0c":
		e.screen.clear()
	case known:
		edit(&e.line)
	case key[0] != escape:
		e.line.insert(Plain(key))
	}
	if !more {
		e.screen.paint(e.prompt, &e.line)
	}
}

// recall shows an entry of the history: 1 is the newest, 0 the new line.
func (e *Editor) recall(n int) {
	if n < 0 || n > e.history.Len() {
		return
	}
	if e.recalls == 0 {
		e.fresh = e.line.String()
	}
	e.recalls = n
	if n == 0 {
		e.line.set(e.fresh, "")
		return
	}
	e.line.set(e.history.At(n-1), "")
}
