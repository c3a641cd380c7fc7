package conversation

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pictureFile makes a small PNG file.
func pictureFile(t testing.TB, path string) string {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAttach(t *testing.T) {
	dir := t.TempDir()
	plain := pictureFile(t, filepath.Join(dir, "a.png"))
	spaced := pictureFile(t, filepath.Join(dir, "my cat.PNG"))
	if err := os.Mkdir(filepath.Join(dir, "directory.png"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, message, text string
		found               []string
	}{
		{"none", "what is a .png file?", "what is a .png file?", nil},
		{"no such file", "is /no/such.png there?", "is /no/such.png there?", nil},
		{"at the end", "what is this? " + plain, "what is this?", []string{plain}},
		{"alone", plain, "", []string{plain}},
		{"in a sentence", "what is in " + plain + ", and why?", "what is in , and why?", []string{plain}},
		{"in brackets", "this (" + plain + ") is what?", "this () is what?", []string{plain}},
		{"two", plain + " " + plain + " which?", "which?", []string{plain, plain}},
		{"after one that is not there", "/no.png " + plain, "/no.png", []string{plain}},
		{"spaces after backslashes", "see " + strings.ReplaceAll(spaced, " ", `\ `), "see", []string{spaced}},
		{"single quotes", "see '" + spaced + "'", "see", []string{spaced}},
		{"double quotes", `see "` + spaced + `"`, "see", []string{spaced}},
		{"home", "see ~/a.png", "see", []string{"~/a.png"}},
		{"a directory", dir + "/directory.png", dir + "/directory.png", nil},
		{"part of a word", plain + "x", plain + "x", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, images, found, err := Attach(tt.message, dir)
			if err != nil || text != tt.text || len(images) != len(tt.found) {
				t.Errorf("text %q with %d images, error %v; want %q with %d", text, len(images), err, tt.text, len(tt.found))
			}
			if diff := cmp.Diff(tt.found, found); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
	fake := filepath.Join(dir, "fake.jpg")
	if err := os.WriteFile(fake, []byte("no picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := Attach("see "+fake, dir); err == nil || !strings.Contains(err.Error(), "fake.jpg: The data is not an image") {
		t.Errorf("a file that is no picture: %v", err)
	}
}

func TestMissing(t *testing.T) {
	dir := t.TempDir()
	there := pictureFile(t, filepath.Join(dir, "a.png"))
	for _, tt := range []struct {
		name, message string
		want          []string
	}{
		{"nothing", "hello", nil},
		{"each beginning", "/no.png ./no.JPG ../no.jpeg ~/no.webp", []string{"/no.png", "./no.JPG", "../no.jpeg", "~/no.webp"}},
		{"it is there", there + " ~/a.png", nil},
		{"a name in a sentence", "make a no.png, or docs/no.gif", nil},
		{"among words", "what is in ./no.bmp? and (/no.gif)", []string{"./no.bmp", "/no.gif"}},
		{"quotes and spaces", `see './my no.png' and ./my\ other.png`, []string{"./my no.png", "./my other.png"}},
		{"another ending", "./no.txt", nil},
	} {
		if diff := cmp.Diff(tt.want, Missing(tt.message, dir)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
