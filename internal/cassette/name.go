package cassette

import (
	"fmt"
	"path/filepath"
	"regexp"
)

// extension is that of cassette files.
const extension = ".yaml"

// The name of a case is a path below the folder of the cassettes.
const maxNameLength = 200

var legalName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*(?:/[A-Za-z0-9_][A-Za-z0-9._-]*){0,7}$`)

// CheckName reports whether a case may have this name: it becomes the name of a
// file, and may come from a client.
func CheckName(name string) error {
	if len(name) > maxNameLength || !legalName.MatchString(name) || !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("illegal name of a case %.60q: want up to eight parts of letters, digits, \"-\", \"_\" and \".\", with \"/\" between them", name)
	}
	return nil
}
