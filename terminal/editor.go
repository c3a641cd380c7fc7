package terminal

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// ErrInterrupted is the error of a line that Ctrl-C ended.
var ErrInterrupted = errors.New("interrupted")

// fence begins and ends a message of several lines.
const fence = `"""`

// Editor reads messages that a person types, with the keys of a shell for
// editing and for what was typed before. Between them, other text is written
// by Write.
type Editor struct {
	keys    *keys
	line    *term.Terminal
	out     io.Writer
	history *History
	restore func()
}

// OpenEditor takes over a terminal until Close. A goroutine reads in for as
// long as it has input, also after Close.
func OpenEditor(in io.Reader, out io.Writer, history *History) (*Editor, error) {
	restore, err := Raw(in)
	if err != nil {
		return nil, err
	}
	e := &Editor{keys: newKeys(in), out: out, history: history, restore: restore}
	e.line = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{e.keys, out}, "")
	e.line.History = recalled{history}
	e.line.SetBracketedPasteMode(true)
	return e, nil
}

// recalled is a history to look at: what is added to it are whole messages,
// and not each line.
type recalled struct{ *History }

func (recalled) Add(string) {}

// History is what was typed before.
func (e *Editor) History() *History { return e.history }

// Close gives the terminal back.
func (e *Editor) Close() {
	e.line.SetBracketedPasteMode(false)
	e.restore()
}

// Write implements io.Writer. The ends of lines are made right for a raw
// terminal.
func (e *Editor) Write(p []byte) (int, error) { return e.line.Write(p) }

// Interruptible is a context that Ctrl-C ends, until stop is called. What
// else is typed meanwhile belongs to the next message.
func (e *Editor) Interruptible(ctx context.Context) (answering context.Context, stop func()) {
	return e.keys.interruptible(ctx)
}

// ReadMessage reads a message: one line, or what stands between two """,
// whose lines after the first are asked for by more. The history keeps it
// whole, as one line to edit. Its errors are ErrInterrupted for Ctrl-C,
// io.EOF for Ctrl-D, and the end of ctx.
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

// remember keeps what was typed. A note means something in this run alone.
func (e *Editor) remember(line string) {
	if e.keys.noted(line) {
		e.history.keep(line)
		return
	}
	e.history.Add(line)
}

// open says whether a message has begun with a fence, and no other ends it.
func open(text string) bool {
	text, fenced := strings.CutPrefix(strings.TrimLeft(text, " "), fence)
	return fenced && !strings.HasSuffix(strings.TrimRight(text, " "), fence)
}

// unfence is a message without the fences around it.
func unfence(text string) string {
	inner, fenced := strings.CutPrefix(strings.TrimLeft(text, " "), fence)
	if !fenced {
		return text
	}
	return strings.Trim(strings.TrimSuffix(strings.TrimRight(inner, " "), fence), "\n")
}

func (e *Editor) readLine(prompt string) (string, error) {
	if f, ok := e.out.(*os.File); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			_ = e.line.SetSize(columns, rows)
		}
	}
	e.line.SetPrompt(prompt)
	line, err := e.line.ReadLine()
	switch {
	case err != nil:
		// What comes next, of a shell perhaps, begins a line.
		_, _ = io.WriteString(e.out, "\r\n")
		return "", err
	case line == stopped:
		return "", ErrInterrupted
	}
	return line, nil
}
