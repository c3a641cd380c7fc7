package conversation

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
	for message != "" {
		at := paths.FindStringSubmatchIndex(message)
		if at == nil {
			break
		}
		before, after := at[3], at[10] // the ends of what stands around the path
		path := unquote(message, at)
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

func readPicture(path, home string) ([]byte, error) {
	if below, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		path = filepath.Join(home, below)
	}
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
