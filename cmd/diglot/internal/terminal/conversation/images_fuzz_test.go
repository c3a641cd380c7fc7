package conversation

import (
	"path/filepath"
	"strings"
	"testing"
)

// FuzzAttach puts a picture, or the path of none, into any message: what is
// not the path of a picture stays as it was.
func FuzzAttach(f *testing.F) {
	path := pictureFile(f, filepath.Join(f.TempDir(), "a.png"))
	f.Add("what is in ", " here?")
	f.Add(`'x.png" \`, `, and "y.jpg`)
	f.Add("(a.png", ".webp)")
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, none := range []string{"", "/no/such.png"} {
			message := before + none + after
			text, images, found, err := Attach(message, "")
			if err != nil || len(images) != len(found) || len(found) == 0 && text != message {
				t.Errorf("Attach(%q) = %q with %q, %v", message, text, found, err)
			}
		}
		_, images, _, err := Attach(strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(before)+" "+path+" "+after, "")
		if err != nil || len(images) == 0 {
			t.Errorf("the picture between %q and %q is not found: %v", before, after, err)
		}
	})
}
