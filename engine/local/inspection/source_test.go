package inspection

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sources is the folder of the llama.cpp that is built into the program.
func sources(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/ollama/ollama").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "llama", "llama.cpp", "src")
}

// source is a file of it.
func source(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(sources(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// between is the part of a text from one mark to another.
func between(t *testing.T, text, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, from)
	if !ok {
		t.Fatalf("the source has no %q any more", from)
	}
	part, _, ok := strings.Cut(rest, to)
	if !ok {
		t.Fatalf("the source has no %q behind %q any more", to, from)
	}
	return part
}

// names are the pairs of one of the source's maps: a constant and its text.
func names(t *testing.T, name string) map[string]string {
	t.Helper()
	pairs := map[string]string{}
	for _, m := range regexp.MustCompile(`\{ (\w+), +"([^"]+)" +\}`).FindAllStringSubmatch(between(t, source(t, "llama-arch.cpp"), name+" = {", "\n};"), -1) {
		pairs[m[1]] = m[2]
	}
	if len(pairs) < 50 {
		t.Fatalf("%s has %d names", name, len(pairs))
	}
	return pairs
}

// TestKnowsArchitectures holds the table against those that llama.cpp has.
func TestKnowsArchitectures(t *testing.T) {
	table, err := parseTable(architecturesText)
	if err != nil {
		t.Fatal(err)
	}
	all := names(t, "LLM_ARCH_NAMES")
	for _, name := range all {
		if table[name] == nil && unsupported[name] == "" && name != "(unknown)" {
			t.Errorf("llama.cpp knows the architecture %s, and the table does not", name)
		}
		if table[name] != nil && unsupported[name] != "" {
			t.Errorf("%s is in both tables", name)
		}
	}
	values := sortedNames(table)
	for _, name := range all {
		values = slices.DeleteFunc(values, func(v string) bool { return v == name })
	}
	if len(values) > 0 {
		t.Errorf("llama.cpp does not know %s", values)
	}
}

// TestKnowsRecurrent holds the recurrent architectures against those that llama.cpp has.
func TestKnowsRecurrent(t *testing.T) {
	constants, text := names(t, "LLM_ARCH_NAMES"), source(t, "llama-arch.cpp")
	var want []string
	for _, function := range []string{"llm_arch_is_recurrent(", "llm_arch_is_hybrid("} {
		for _, m := range regexp.MustCompile(`case (\w+):`).FindAllStringSubmatch(between(t, text, function, "return true"), -1) {
			want = append(want, constants[m[1]])
		}
	}
	got := recurrent()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q, and llama.cpp has %q", got, want)
	}
}

// passedOver are keys that llama.cpp has names for and does not read of a model,
// or that package inspection looks at elsewhere.
var passedOver = regexp.MustCompile(`^(general\.(type|quantization_version|alignment|sampling\..*|author|version|url|description|license|source\..*)|adapter\..*|` +
	`tokenizer\..*|.*\.(features_length|tensor_data_layout|posnet\..*|convnext\..*)|.*block_skip_connection)$`)

// TestKnowsKeys holds the table of keys against those that llama.cpp has.
func TestKnowsKeys(t *testing.T) {
	known := map[string]bool{}
	for _, k := range listed(t, "model") {
		known[k.name] = true
	}
	for _, name := range names(t, "LLM_KV_NAMES") {
		if name = strings.TrimPrefix(name, "%s"); !known[name] && !passedOver.MatchString(name) {
			t.Errorf("llama.cpp reads %s, and the table does not have it", name)
		}
	}
}

func listed(t *testing.T, sections ...string) []key {
	t.Helper()
	var all []key
	for _, section := range sections {
		keys, err := keysOf(section)
		if err != nil || len(keys) == 0 {
			t.Fatalf("section %s has %d keys: %v", section, len(keys), err)
		}
		all = append(all, keys...)
	}
	return all
}

// TestKnowsTokenizers holds the lists of tokenizers against llama.cpp's.
func TestKnowsTokenizers(t *testing.T) {
	text := source(t, "llama-vocab.cpp")
	load := between(t, text, "void llama_vocab::impl::load(", "LLM_KV_TOKENIZER_ADD_PREFIX")
	for _, m := range regexp.MustCompile(`tokenizer_model == "([^"]+)"`).FindAllStringSubmatch(load, -1) {
		if _, ok := tokenizers()[m[1]]; !ok && m[1] != "no_vocab" && m[1] != "none" {
			t.Errorf("llama.cpp knows the tokenizer %s, and the table does not", m[1])
		}
	}
	var pre []string
	for _, m := range regexp.MustCompile(`tokenizer_pre == "([^"]+)"`).FindAllStringSubmatch(load, -1) {
		pre = append(pre, m[1])
		if !slices.Contains(preTokenizers, m[1]) {
			t.Errorf("llama.cpp knows the pre-tokenizer %s, and the list does not", m[1])
		}
	}
	for _, name := range preTokenizers {
		if !slices.Contains(pre, name) {
			t.Errorf("llama.cpp does not know the pre-tokenizer %s", name)
		}
	}
	var starts []string
	for _, block := range strings.Split(load, "else if (") {
		if strings.Contains(block, "add_bos = true") && strings.Contains(block, "tokenizer_pre ==") {
			for _, m := range regexp.MustCompile(`tokenizer_pre == "([^"]+)"`).FindAllStringSubmatch(block, -1) {
				starts = append(starts, m[1])
			}
		}
	}
	slices.Sort(starts)
	if want := slices.Sorted(slices.Values(startPreTokenizers)); !slices.Equal(starts, want) {
		t.Errorf("a token is put in front of texts by %q, and the list has %q", starts, want)
	}
}

// TestKnowsTensors holds the tensors of the table against those that llama.cpp
// looks for in models of an architecture.
func TestKnowsTensors(t *testing.T) {
	table, err := parseTable(architecturesText)
	if err != nil {
		t.Fatal(err)
	}
	has := tensorSets(t)
	for name, a := range table {
		for prefix, groups := range map[string][]group{"": a.top, "blk.%d.": a.block} {
			for _, g := range groups {
				for _, w := range g.tensors {
					base := w.name
					for _, ending := range append(endings, ".weight") {
						base = strings.TrimSuffix(base, ending)
					}
					if !has[name][prefix+base] {
						t.Errorf("%s: llama.cpp looks for no tensor %s%s", name, prefix, base)
					}
				}
			}
		}
	}
}

// tensorSets are the tensors of each architecture, without their endings.
func tensorSets(t *testing.T) map[string]map[string]bool {
	t.Helper()
	architectures, tensors := names(t, "LLM_ARCH_NAMES"), names(t, "LLM_TENSOR_NAMES")
	sets := map[string]map[string]bool{}
	var current []string
	inside := false
	text := between(t, source(t, "llama-arch.cpp"), "static std::set<llm_tensor> llm_get_tensor_names(", "LLM_TENSOR_INFOS")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "case "); ok {
			if inside {
				current, inside = nil, false
			}
			current = append(current, architectures[strings.TrimSuffix(name, ":")])
			continue
		}
		inside = inside || strings.HasPrefix(line, "return")
		tensor, ok := tensors[strings.TrimSuffix(line, ",")]
		for _, name := range current {
			if sets[name] == nil {
				sets[name] = map[string]bool{}
			}
			sets[name][tensor] = sets[name][tensor] || ok
		}
	}
	return sets
}

// TestKnowsRotations holds the flag rot against what the code of an architecture
// demands.
func TestKnowsRotations(t *testing.T) {
	table, err := parseTable(architecturesText)
	if err != nil {
		t.Fatal(err)
	}
	architectures := names(t, "LLM_ARCH_NAMES")
	folder := sources(t)
	builds := between(t, source(t, "llama-model.cpp"), "ggml_cgraph * llama_model::build_graph(", "GGML_ABORT")
	var current []string
	for line := range strings.Lines(builds) {
		if m := regexp.MustCompile(`case (LLM_ARCH_\w+):`).FindStringSubmatch(line); m != nil {
			current = append(current, architectures[m[1]])
		}
		m := regexp.MustCompile(`make_unique<llm_build_(\w+)`).FindStringSubmatch(line)
		if m == nil {
			continue
		}
		demands := demandsRotation(t, folder, m[1])
		for _, name := range current {
			if a := table[name]; a != nil && demands && !a.flags["rot"] {
				t.Errorf("%s: the code (%s) demands that all of a head is rotated, and the table does not say so", name, m[1])
			}
		}
		current = nil
	}
}

// demandsRotation reports whether a part of the source does, by the name of what it
// builds.
func demandsRotation(t *testing.T, folder, build string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "models", "*.cpp"))
	if err != nil {
		t.Fatal(err)
	}
	builds := regexp.MustCompile(`\bllm_build_` + build + `(<\w+>)?::llm_build_` + build + `\(`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if builds.Match(text) {
			return regexp.MustCompile(`(?m)^\s*GGML_ASSERT\(n_embd_head == hparams.n_rot\)`).Match(text)
		}
	}
	t.Errorf("the source has no file for %s", build)
	return false
}
