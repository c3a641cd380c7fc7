package inspection

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// projectorSource is a file of the part of llama.cpp that reads projectors.
func projectorSource(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(sources(t), "..", "tools", "mtmd", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// constants are those of it that begin with a prefix and that the code uses, with
// their texts.
func constants(t *testing.T, prefix string) map[string]string {
	t.Helper()
	code := projectorSource(t, "clip.cpp")
	texts := map[string]string{}
	for _, m := range regexp.MustCompile(`#define (`+prefix+`\w+) +"([^"]+)"`).FindAllStringSubmatch(projectorSource(t, "clip-impl.h"), -1) {
		if regexp.MustCompile(`\b` + m[1] + `\b`).MatchString(code) {
			texts[m[1]] = m[2]
		}
	}
	if len(texts) < 20 {
		t.Fatalf("the source has %d names that begin with %s", len(texts), prefix)
	}
	return texts
}

// TestKnowsProjectors holds the table against the types that llama.cpp has.
func TestKnowsProjectors(t *testing.T) {
	table, err := parseTable(projectorsText)
	if err != nil {
		t.Fatal(err)
	}
	text := between(t, projectorSource(t, "clip-impl.h"), "PROJECTOR_TYPE_NAMES = {", "\n};")
	var known []string
	for _, m := range regexp.MustCompile(`\{ \w+, *"([^"]+)" *\}`).FindAllStringSubmatch(text, -1) {
		known = append(known, m[1])
	}
	others := []string{"glma", "qwen2.5o"} // one that hears alone; a name for two that the table has
	if diff := missing(known, append(sortedNames(table), others...)); len(diff) > 0 {
		t.Errorf("llama.cpp knows projectors %q, and the table does not", diff)
	}
	if diff := missing(sortedNames(table), known); len(diff) > 0 {
		t.Errorf("llama.cpp does not know projectors %q", diff)
	}
}

// missing are those of some names that are not among others.
func missing(names, among []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(among, name) })
}

// TestKnowsProjectorKeys holds the tables of keys against those that llama.cpp
// reads of projectors.
func TestKnowsProjectorKeys(t *testing.T) {
	var known []string
	for _, k := range listed(t, "projector", "vision", "audio") {
		known = append(known, k.name)
	}
	for _, text := range slices.Sorted(maps.Values(constants(t, "KEY_"))) {
		for _, part := range []string{"vision", "audio"} {
			if name := strings.Replace(text, "%s", part, 1); !slices.Contains(known, name) {
				t.Errorf("llama.cpp reads %s, and the tables do not have it", name)
			}
		}
	}
}

// TestKnowsProjectorTensors holds the tensors of the table against those that
// llama.cpp looks for, in both directions.
func TestKnowsProjectorTensors(t *testing.T) {
	table, err := parseTable(projectorsText)
	if err != nil {
		t.Fatal(err)
	}
	looked := map[string]*regexp.Regexp{}
	for name, text := range constants(t, "TN_") {
		pattern := strings.NewReplacer("%s", `[\w.]+`, "%d", `(\d+|#)`).Replace(strings.ReplaceAll(text, ".", `\.`))
		looked[name] = regexp.MustCompile("^" + pattern + "$")
	}
	used := map[string]bool{"TN_IMAGE_NEWLINE": true} // it is read, and nothing is done with it
	for kind, a := range table {
		prefix := "v.blk.#."
		if a.flags["hears"] {
			prefix = "a.blk.#."
		}
		for _, g := range a.top {
			useAll(t, kind, "", g, looked, used)
		}
		for _, g := range a.block {
			useAll(t, kind, prefix, g, looked, used)
		}
	}
	for _, name := range sortedNames(looked) {
		if !used[name] {
			t.Errorf("llama.cpp looks for %s, which no projector of the table has", looked[name])
		}
	}
}

// useAll marks what the source calls the tensors of a group.
func useAll(t *testing.T, kind, prefix string, g group, looked map[string]*regexp.Regexp, used map[string]bool) {
	t.Helper()
	for _, w := range g.tensors {
		name := w.name
		if !strings.Contains(name, "#") {
			name = prefix + name
		}
		found := false
		for constant, pattern := range looked {
			if pattern.MatchString(name) {
				found, used[constant] = true, true
			}
		}
		if !found {
			t.Errorf("%s: llama.cpp looks for no tensor %s", kind, name)
		}
	}
}
