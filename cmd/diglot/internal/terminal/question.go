package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"
)

// maxLine bounds an answer from a pipe, in bytes.
const maxLine = 64 << 10

// Ask prompts for one line at a terminal. Ctrl-C and Ctrl-D are ErrInterrupted.
func Ask(in io.Reader, out io.Writer, question string) (string, error) {
	return fromPerson(in, out, func(t *term.Terminal) (string, error) {
		t.SetPrompt(question)
		return t.ReadLine()
	})
}

// ReadSecret reads one line from in. If in is a terminal, it prompts on out like
// Ask, and does not echo the input.
func ReadSecret(in io.Reader, out io.Writer, question string) (string, error) {
	if Is(in) {
		return fromPerson(in, out, func(t *term.Terminal) (string, error) { return t.ReadPassword(question) })
	}
	line, err := bufio.NewReader(io.LimitReader(in, maxLine)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimSpace(line), nil
}

// fromPerson reads from a raw terminal. Otherwise Ctrl-C would be a signal, which
// does not end the read.
func fromPerson(in io.Reader, out io.Writer, read func(*term.Terminal) (string, error)) (string, error) {
	restore, err := Raw(in)
	if err != nil {
		return "", err
	}
	defer restore()
	line, err := read(term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, out}, ""))
	if errors.Is(err, io.EOF) {
		fmt.Fprint(out, "\r\n")
		return "", ErrInterrupted
	}
	return strings.TrimSpace(line), err
}
