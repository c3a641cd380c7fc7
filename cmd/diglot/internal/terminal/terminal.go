package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Is reports whether stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// size is the size of terminal w, or a default.
func size(w io.Writer) (columns, rows int) {
	if f, ok := w.(*os.File); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return 80, 24
}

// Raw puts a terminal into raw mode until restore is called. It does nothing if in
// is not a terminal.
func Raw(in io.Reader) (restore func(), err error) {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func() {}, nil
	}
	before, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	return func() { _ = term.Restore(int(f.Fd()), before) }, nil
}
