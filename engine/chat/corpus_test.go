//go:build corpus

package chat

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ardanlabs/jinja"
)

// The corpus is 70 chat templates of real models, as llama.cpp collects them.
// They are not ours to distribute: tools/templates puts them into a folder of
// the user's cache. What Python's jinja2 makes of them is kept as hashes.

// corpusTime is the clock of the reference renders.
var corpusTime = time.Date(2026, 11, 27, 15, 4, 5, 0, time.UTC)

func corpusFolder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("DIGLOT_TEMPLATES")
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		folder = filepath.Join(cache, "diglot", "templates")
	}
	if _, err := os.Stat(folder); err != nil {
		t.Fatalf("no chat templates: %v\nget them with `go run ./tools/templates`, or set DIGLOT_TEMPLATES to a folder that has them", err)
	}
	return folder
}

// corpus reads every template that testdata lists and checks its hash.
func corpus(t *testing.T) map[string]string {
	t.Helper()
	folder := corpusFolder(t)
	sources := map[string]string{}
	for _, row := range hashes(t, "testdata/templates.sha256") {
		b, err := os.ReadFile(filepath.Join(folder, row.name))
		if err != nil {
			t.Fatal(err)
		}
		if got := hexHash(string(b)); got != row.hash {
			t.Fatalf("%s: SHA-256 is %s, want %s", row.name, got, row.hash)
		}
		sources[row.name] = string(b)
	}
	return sources
}

type hashRow struct{ hash, name, scenario string }

func hashes(t *testing.T, file string) []hashRow {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []hashRow
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		rows = append(rows, hashRow{hash: fields[0], name: fields[1], scenario: strings.Join(fields[2:], "")})
	}
	return rows
}

func hexHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// knownDifferences are the renders that differ from Python's, per template.
var knownDifferences = map[string]struct {
	count int
	why   string
}{
	"NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use.jinja": {4, "an undefined value is iterable in Python: list[Union[]] there, list[Any] here"},
	"NousResearch-Hermes-3-Llama-3.1-8B-tool_use.jinja":   {4, "as above"},
	"meetkai-functionary-medium-v3.1.jinja":               {8, "'x'|safe + y escapes y for HTML in Python"},
}

func TestCorpusRenders(t *testing.T) {
	sources := corpus(t)
	scenarios := readScenarios(t)
	templates := map[string]*Template{}
	for name, source := range sources {
		tpl, err := compile(source, Info{}, func() time.Time { return corpusTime })
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		templates[name] = tpl
	}
	identical, different := 0, map[string]int{}
	rows := hashes(t, "testdata/renders.sha256")
	for _, row := range rows {
		out, err := templates[row.name].run(context.Background(), scenarios[row.scenario]())
		if hexHash(out) == row.hash && err == nil {
			identical++
			continue
		}
		different[row.name]++
		if knownDifferences[row.name].count == 0 {
			t.Errorf("%s, %s: differs from the reference (error %v):\n%s", row.name, row.scenario, err, out)
		}
	}
	for name, known := range knownDifferences {
		if different[name] != known.count {
			t.Errorf("%s: %d renders differ, want %d (%s)", name, different[name], known.count, known.why)
		}
	}
	t.Logf("%d of %d renders are identical", identical, len(rows))
}

// readScenarios returns, by name, what makes the variables of a conversation
// anew: templates may change them.
func readScenarios(t *testing.T) map[string]func() map[string]jinja.Value {
	t.Helper()
	raw, err := os.ReadFile("testdata/scenarios.json")
	if err != nil {
		t.Fatal(err)
	}
	whole := func() *jinja.Dict {
		v, err := fromJSON(raw, func(s string) string { return s })
		if err != nil {
			t.Fatal(err)
		}
		return v.AsDict()
	}
	scenarios := map[string]func() map[string]jinja.Value{}
	for _, name := range whole().Keys {
		scenarios[name] = func() map[string]jinja.Value {
			v, _ := whole().Get(name)
			return v.AsDict().Data
		}
	}
	return scenarios
}

// tokenLike is what looks like a control token in the source of a template.
var tokenLike = regexp.MustCompile(`<\|[^<>|\s]+\|?>|<[^<>|\s]+\|>|<｜[^<>\s]+｜>|\[/?[A-Z_]{3,}\]`)

func TestCorpusMasks(t *testing.T) {
	for name, source := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			control := append(tokenLike.FindAllString(source, -1), "<s>", "</s>", "<|im_end|>")
			checkMasking(t, source, control, 5)
		})
	}
}

func TestCorpusProbe(t *testing.T) {
	sources := corpus(t)
	for _, row := range hashes(t, "testdata/templates.sha256") {
		tpl, err := NewTemplate(sources[row.name], Info{EOS: "<EOS>"}, time.Now)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		c := tpl.Capabilities()
		s := c.Syntax
		t.Logf("%s: %s header %q\n  %+v", row.name, tpl.Format(), tpl.header, c)
		t.Logf("  think %q %q sec %q %q call %q %q sep %q kind %s", s.ReasoningStart, s.ReasoningEnd, s.SectionStart, s.SectionEnd, s.CallStart, s.CallEnd, s.Separator, s.Kind)
	}
}
