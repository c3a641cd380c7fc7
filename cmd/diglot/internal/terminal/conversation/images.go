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

// paths matches what could be the path of an image in a message: quoted, or with
// spaces escaped by backslashes, as terminals insert dropped files.
var paths = regexp.MustCompile(`(?i)(^|[\s(])(?:'([^'\n]+\.(?:` + endings + `))'|"([^"\n]+\.(?:` + endings + `))"|((?:\\.|[^\s'"\\(])(?:\\.|[^\s'"\\])*\.(?:` + endings + `)))($|[\s,.;:!?)])`)

const endings = `jpe?g|png|webp|gif|bmp`

// Attach extracts the images from a message: the paths of existing files. Other
// paths stay in the text. home replaces ~. The error names a file that is not a
// supported image.
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

// Missing returns likely image paths in a message without a file, so that the user
// notices a typo. Only text that starts like a path counts, because many texts
// mention a file.png.
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

// beginnings are prefixes that only paths have.
var beginnings = []string{"/", "./", "../", "~/"}

// nextPath finds the first image path in a message, with its start and end.
func nextPath(message string) (before int, path string, after int, ok bool) {
	at := paths.FindStringSubmatchIndex(message)
	if at == nil {
		return 0, "", 0, false
	}
	return at[3], unquote(message, at), at[10], true
}

// unquote is the path of a match of paths.
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

// atHome expands ~ in a path.
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
		return nil, fs.ErrNotExist // or not accessible: treat it as text, too
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
