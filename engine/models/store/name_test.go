package store

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

var goodNames = []struct {
	text string
	want Name
	back string // what String gives; empty: the text
}{
	{"qwen2.5:0.5b", Name{DefaultHost, "library", "qwen2.5", "0.5b"}, ""},
	{"gpt-4o", Name{DefaultHost, "library", "gpt-4o", "latest"}, ""},
	{"gpt-4o:latest", Name{DefaultHost, "library", "gpt-4o", "latest"}, "gpt-4o"},
	{"library/gpt-4o", Name{DefaultHost, "library", "gpt-4o", "latest"}, "gpt-4o"},
	{"registry.ollama.ai/library/a:b", Name{DefaultHost, "library", "a", "b"}, "a:b"},
	{"someone/Model_1:v1.2-x", Name{DefaultHost, "someone", "Model_1", "v1.2-x"}, ""},
	{"hf.co/org/Repo.GGUF:Q4_K_M", Name{"hf.co", "org", "Repo.GGUF", "Q4_K_M"}, ""},
	{"registry.example/x/y:tag", Name{"registry.example", "x", "y", "tag"}, ""},
	{"localhost:5000/x/y", Name{"localhost:5000", "x", "y", "latest"}, ""},
	{"ghcr.io/a.b/c/d/e:f", Name{"ghcr.io", "a.b/c/d", "e", "f"}, ""},
	{"host/x/y", Name{"host", "x", "y", "latest"}, ""},
	{"host/library/y:latest", Name{"host", "library", "y", "latest"}, "host/library/y"},
	{"_a/_b:_c", Name{DefaultHost, "_a", "_b", "_c"}, ""},
	{"a..b:c--d", Name{DefaultHost, "library", "a..b", "c--d"}, ""},
	{"com0:console", Name{DefaultHost, "library", "com0", "console"}, ""},
	{strings.Repeat("m", 80) + ":" + strings.Repeat("t", 80), Name{DefaultHost, "library", strings.Repeat("m", 80), strings.Repeat("t", 80)}, ""},
}

func TestParseName(t *testing.T) {
	for _, test := range goodNames {
		n, err := ParseName(test.text)
		if err != nil || n != test.want {
			t.Errorf("%q is read as %+v, %v", test.text, n, err)
			continue
		}
		back := test.back
		if back == "" {
			back = test.text
		}
		if n.String() != back {
			t.Errorf("%q is written as %q", test.text, n)
		}
		if found, ok := nameOf(n.path()); !ok || found != n {
			t.Errorf("%q is found again as %+v", test.text, found)
		}
	}
}

var badNames = []struct{ text, want string }{
	{"", `The model name "" is empty.`},
	{"../../x", `The host in the model name "../../x" is "..", which is a path.`},
	{"a/../../b", `The namespace in the model name "a/../../b" is "..", which is a path.`},
	{"./x", `The namespace in the model name "./x" is ".", which is a path.`},
	{"../x", `The namespace in the model name "../x" is "..", which is a path.`},
	{"..", `The model in the model name ".." is "..", which is a path.`},
	{"x:..", `The tag in the model name "x:.." is "..", which is a path.`},
	{"h.example/x/../y", `The namespace in the model name "h.example/x/../y" is "..", which is a path.`},
	{"/etc/passwd", `The model name "/etc/passwd" begins with a slash: give a name, not a path.`},
	{"x/", `The model in the model name "x/" is empty.`},
	{"x:", `The tag in the model name "x:" is empty.`},
	{":x", `The model in the model name ":x" is empty.`},
	{"a//b", `The namespace in the model name "a//b" is empty.`},
	{"h.example//b/c", `The namespace in the model name "h.example//b/c" is empty.`},
	{"registry.example/x", `The host in the model name "registry.example/x" is followed by only one part: add a namespace, as in HOST/NAMESPACE/MODEL.`},
	{"localhost:5000/x", `The host in the model name "localhost:5000/x" is followed by only one part: add a namespace, as in HOST/NAMESPACE/MODEL.`},
	{"localhost:0/x/y", `The host in the model name "localhost:0/x/y" has a port that is not a number from 1 to 65535.`},
	{"localhost:65536/x/y", `The host in the model name "localhost:65536/x/y" has a port that is not a number from 1 to 65535.`},
	{"localhost:080/x/y", `The host in the model name "localhost:080/x/y" has a port that is not a number from 1 to 65535.`},
	{"localhost:/x/y", `The host in the model name "localhost:/x/y" has a port that is not a number from 1 to 65535.`},
	{"registry.ollama.ai/a/b/c", `The namespace in the model name "registry.ollama.ai/a/b/c" has a slash, but names of registry.ollama.ai have a single namespace.`},
	{"registry.ollama.ai/a.b/c", `The namespace in the model name "registry.ollama.ai/a.b/c" has a dot.`},
	{"https://hf.co/org/repo", `The model name "https://hf.co/org/repo" begins with a scheme: remove everything up to "://".`},
	{"x@sha256:0123", `The model name "x@sha256:0123" contains a digest or a user: use a tag, as in MODEL:TAG.`},
	{`C:\x`, `The tag in the model name "C:\\x" has a backslash.`},
	{`a\b`, `The model in the model name "a\\b" has a backslash.`},
	{"a\x00b", `The model in the model name "a\x00b" has the control character U+0000.`},
	{"a:b\n", `The tag in the model name "a:b\n" has the control character U+000A.`},
	{"a\x7f", `The model in the model name "a\x7f" has the control character U+007F.`},
	{"a b", `The model in the model name "a b" has a space.`},
	{"модель", `The model in the model name "модель" has 'м'; only the letters a to z and A to Z, digits, and _ - . are allowed.`},
	{"a/ｂ:c", `The model in the model name "a/ｂ:c" has 'ｂ'; only the letters a to z and A to Z, digits, and _ - . are allowed.`},
	{"x\u202ey", `The model in the model name "x\u202ey" has '\u202e'; only the letters a to z and A to Z, digits, and _ - . are allowed.`},
	{"a\xffb", `The model name "a\xffb" is not valid UTF-8.`},
	{"a:b:c", `The model in the model name "a:b:c" has ':'; only the letters a to z and A to Z, digits, and _ - . are allowed.`},
	{"~/x", `The namespace in the model name "~/x" has '~'; only the letters a to z and A to Z, digits, and _ - . are allowed.`},
	{"x%2f..", `The model in the model name "x%2f.." has '%'; only the letters a to z and A to Z, digits, and _ - . are allowed.`},
	{".x", `The model in the model name ".x" begins with ".".`},
	{"-x", `The model in the model name "-x" begins with "-".`},
	{"x:-rf", `The tag in the model name "x:-rf" begins with "-".`},
	{"x.", `The model in the model name "x." ends with a dot, which Windows would drop.`},
	{"x:NUL", `The tag in the model name "x:NUL" is "NUL", which names a device on Windows.`},
	{"com1.gguf", `The model in the model name "com1.gguf" is "com1", which names a device on Windows.`},
	{strings.Repeat("m", 81), `The model in the model name "` + strings.Repeat("m", 81) + `" has 81 characters, more than 80.`},
	{"x:" + strings.Repeat("t", 81), `The tag in the model name "x:` + strings.Repeat("t", 81) + `" has 81 characters, more than 80.`},
	{strings.Repeat("h", 256) + "/x/y", `The host in the model name "` + strings.Repeat("h", 100) + `…" has 256 characters, more than 255.`},
	{"h/" + strings.Repeat("n/", 200) + "y", `The namespace in the model name "h/` + strings.Repeat("n/", 49) + `…" has 399 characters, more than 255.`},
	{strings.Repeat("x/", 100000), `The model name "` + strings.Repeat("x/", 50) + `…" is too long.`},
}

func TestParseNameRefuses(t *testing.T) {
	for _, test := range badNames {
		n, err := ParseName(test.text)
		var refusal *NameError
		if !errors.As(err, &refusal) || err.Error() != test.want || n != (Name{}) {
			t.Errorf("%.100q is read as %+v, %v; the error should be %s", test.text, n, err, test.want)
		}
	}
}

// TestNamesAreCheckedByEveryVerb gives names that were not made by ParseName.
func TestNamesAreCheckedByEveryVerb(t *testing.T) {
	s := openTest(t, t.TempDir())
	good := putModel(t, s, "good", "x")
	c, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, n := range []Name{
		{},
		{"..", "..", "..", "x"},
		{DefaultHost, "library", "../../x", "latest"},
		{DefaultHost, "library/..", "x", "latest"},
		{"h", "a/../..", "x", "latest"},
		{"/", "library", "x", "latest"},
		{DefaultHost, "library", "x", "a/b"},
	} {
		_, errModel := s.Model(n)
		_, errPut := c.Put(t.Context(), n, good.Raw)
		for verb, err := range map[string]error{
			"Model": errModel, "Put": errPut, "Copy from": s.Copy(t.Context(), n, good.Name),
			"Copy to": s.Copy(t.Context(), good.Name, n), "Remove": s.Remove(t.Context(), n),
		} {
			var refusal *NameError
			if !errors.As(err, &refusal) {
				t.Errorf("%s takes %+v: %v", verb, n, err)
			}
		}
	}
}

func FuzzParseName(f *testing.F) {
	for _, test := range goodNames {
		f.Add(test.text)
	}
	for _, test := range badNames {
		f.Add(test.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseName(text)
		if err != nil {
			if len(err.Error()) > 1000 || n != (Name{}) {
				t.Errorf("%q: the error has %d bytes, and the name is %+v", text, len(err.Error()), n)
			}
			return
		}
		const top = "/store/manifests"
		path := filepath.Join(top, n.path())
		below, found := strings.CutPrefix(path, top+"/")
		if !found || below != filepath.Clean(below) || strings.Count(below, "/") < 3 {
			t.Errorf("%q is at %s", text, path)
		}
		if back, err := ParseName(n.String()); err != nil || back != n {
			t.Errorf("%q is written as %q and read as %+v, %v", text, n, back, err)
		}
		if back, ok := nameOf(below); !ok || back != n {
			t.Errorf("%q is found again as %+v", text, back)
		}
	})
}
