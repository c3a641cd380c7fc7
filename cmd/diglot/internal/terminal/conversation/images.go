package conversation

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/picture"
)

// paths finds what could be the path of a picture in a message: between
// quotes, or without spaces but those after a backslash, as terminals write
// the path of a file that is dropped on them.
var paths = regexp.MustCompile(`(?i)(^|[\s(])(?:'([^'\n]+\.(?:` + endings + `))'|"([^"\n]+\.(?:` + endings + `))"|((?:\\.|[^\s'"\\(])(?:\\.|[^\s'"\\])*\.(?:` + endings + `)))($|[\s,.;:!?)])`)

const endings = `jpe?g|png|webp|gif|bmp`

// Attach takes the pictures out of a message: paths of files that are there.
// A path without a file is text like any other. home is what ~ stands for.
// The error says which file is no picture that can be read.
func Attach(message, home string) (text string, images []engine.Image, found []string, err error) {
	var rest strings.Builder
	for {
		before, path, after, ok := nextPath(message)
		if !ok {
			break
		}
		data, err := readPicture(path, home)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			rest.WriteString(message[:after])
		case err != nil:
			return "", nil, nil, fmt.Errorf("%s: %w", path, err)
		default:
			rest.WriteString(message[:before])
			images = append(images, engine.Image{Data: data})
			found = append(found, path)
		}
		message = message[after:]
	}
	rest.WriteString(message)
	text = rest.String()
	if len(images) > 0 {
		text = strings.TrimSpace(text)
	}
	return text, images, found, nil
}

// Missing lists the paths in a message that are meant for pictures, as far as
// one can see, and that lead to no file: a mistyped one would be text, and the
// model would talk of a picture that it cannot see. Only what begins like a
// path counts; many a text is about a file.png.
func Missing(message, home string) []string {
	var missing []string
	for {
		_, path, after, ok := nextPath(message)
		if !ok {
			return missing
		}
		message = message[after:]
		if !slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(path, b) }) {
			continue
		}
		if _, err := os.Stat(atHome(path, home)); err != nil {
			missing = append(missing, path)
		}
	}
}

// beginnings are those of a path that can be nothing else.
var beginnings = []string{"/", "./", "../", "~/"}

// nextPath finds the first path of a picture in a message, and where the text
// before it ends and the text after it begins.
func nextPath(message string) (before int, path string, after int, ok bool) {
	at := paths.FindStringSubmatchIndex(message)
	if at == nil {
		return 0, "", 0, false
	}
	return at[3], unquote(message, at), at[10], true
}

// unquote is the path that a match of paths stands for.
func unquote(message string, at []int) string {
	for _, group := range []int{2, 3} {
		if at[2*group] >= 0 {
			return message[at[2*group]:at[2*group+1]]
		}
	}
	var b strings.Builder
	escaped := false
	for _, r := range message[at[8]:at[9]] {
		if r == '\\' && !escaped && filepath.Separator != '\\' {
			escaped = true
			continue
		}
		escaped = false
		b.WriteRune(r)
	}
	return b.String()
}

// atHome is a path without the ~ that stands for home.
func atHome(path, home string) string {
	if below, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return filepath.Join(home, below)
	}
	return path
}

func readPicture(path, home string) ([]byte, error) {
	path = atHome(path, home)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fs.ErrNotExist // or cannot be looked at, and then it is a text too
	case !info.Mode().IsRegular():
		return nil, fs.ErrNotExist
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, picture.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if _, err := picture.Open(data, ""); err != nil {
		return nil, errors.New(engine.AsError(err).Message)
	}
	return data, nil
}
