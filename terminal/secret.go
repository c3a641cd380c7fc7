package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// maxSecret is the most bytes of a secret.
const maxSecret = 64 << 10

// ReadSecret reads one line from in. Where that is a terminal it asks on out
// first, and what is typed is not shown.
func ReadSecret(in io.Reader, out io.Writer, ask string) (string, error) {
	if f, ok := in.(*os.File); ok && Is(f) {
		fmt.Fprint(out, ask)
		typed, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(out)
		return strings.TrimSpace(string(typed)), err
	}
	line, err := bufio.NewReader(io.LimitReader(in, maxSecret)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimSpace(line), nil
}
