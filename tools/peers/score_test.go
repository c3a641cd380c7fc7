package main

import (
	"encoding/json/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// printed is what "diglot verify --json" prints, in part.
const printed = `{"score": 50, "results": [
	{"name": "openai/chat/field/seed", "outcome": "pass", "seconds": 0.1},
	{"name": "openai/chat/field/top_p", "outcome": "fail", "failures": [{"message": "top_p: 200,\nnot 400", "curl": "curl"}, {"message": "more"}]},
	{"name": "openai/chat/field/n", "outcome": "fail", "failures": [{"message": "n: 200, not 400"}]},
	{"name": "openai/chat/ids", "outcome": "fail", "failures": [{"message": "two of \"id` + "`" + `s\""}]},
	{"name": "openai/embeddings/order", "outcome": "skipped", "reason": "no model"},
	{"name": "anthropic/messages/turns", "outcome": "not offered"}
]}`

func TestScorePages(t *testing.T) {
	var found, again verified
	if err := json.Unmarshal([]byte(printed), &found); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{"results": [{"name": "openai/embeddings/order", "outcome": "pass"}]}`), &again); err != nil {
		t.Fatal(err)
	}
	s := scoreOf(replaced(found.Results, again.Results))
	s.about = about{"v2", "2026-01-03"}
	text, err := yaml.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	best, err := yaml.Marshal(score{about{"v1", "2026-01-02"}, []group{{Name: "openai/chat", counts: counts{Passed: 4}}, {Name: "openai/images"}}})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := renderScores(fstest.MapFS{"diglot.yml": {Data: best}, "ollama.yml": {Data: text}})
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) != 2 {
		t.Errorf("there are %d pages, not one of all and one of ollama", len(pages))
	}
	for page, wants := range map[string][]string{
		"peers.md": {
			"| diglot | v1 | 2026-01-02 | 100.0 % | 4 | 0 | 0 | 0 |\n",
			"| llama-server | | not yet | | | | | |\n",
			"| [ollama](peers-ollama.md) | v2 | 2026-01-03 | 40.0 % | 2 | 3 | 0 | 1 |\n",
			"| openai/chat | 4 of 4 | 1 of 4 |\n| openai/images | – | – |\n",
		},
		"peers-ollama.md": {
			"in ollama v2 on 2026-01-03", "\n## openai/chat: 3 failed\n",
			"- `field/top_p`, `field/n`: `200, not 400`\n- `ids`: `` two of \"id`s\" ``\n",
		},
	} {
		for _, want := range wants {
			if !strings.Contains(string(pages[page]), want) {
				t.Errorf("%s lacks %q:\n%s", page, want, pages[page])
			}
		}
	}
}

// TestWithin puts one group into a score.
func TestWithin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.yml")
	chat := group{Name: "openai/chat", counts: counts{Passed: 4}}
	text, err := yaml.Marshal(score{about{"v1", "2026-01-02"}, []group{chat, {Name: "openai/images"}}})
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	images := group{Name: "openai/images", counts: counts{Failed: 1}, Failures: []failure{{"ids", "none"}}}
	got, err := score{about{"v1", "2026-02-03"}, []group{images}}.within(file)
	if diff := cmp.Diff(score{about{"v1", "2026-02-03"}, []group{chat, images}}, got, cmp.AllowUnexported(score{}, group{})); err != nil || diff != "" {
		t.Errorf("error %v, -want +got\n%s", err, diff)
	}
	for _, s := range []score{{about{"v2", ""}, []group{images}}, {about{"v1", ""}, []group{{Name: "openai/audio"}}}} {
		if _, err := s.within(file); err == nil {
			t.Errorf("%v is put into %s", s, text)
		}
	}
}

// TestScores wants the pages in the repository to be those of the scores in it.
func TestScores(t *testing.T) {
	pages, err := renderScores(os.DirFS("scores"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range pages {
		written, err := os.ReadFile("../../" + reference + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(text), string(written)); diff != "" {
			t.Errorf("%s (-rendered +written)\n%s", name, diff)
		}
	}
}

func TestWithoutField(t *testing.T) {
	for _, tt := range []struct{ promise, message, want string }{
		{"field/n", "n: wrong type: the error does not name n", "wrong type: the error does not name the field"},
		{"field/tools[].name", "tools[].name: absent: status 200, want 400", "absent: status 200, want 400"},
		{"stop/usage", "usage: 3", "usage: 3"},
	} {
		if got := withoutField(tt.promise, tt.message); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.promise, got, tt.want)
		}
	}
}

func TestModelfile(t *testing.T) {
	if text := string(modelfile(model{group: "embedding", file: "/m.gguf"})); text != "FROM /m.gguf\nPARAMETER num_thread 1\nPARAMETER num_predict 16\n" {
		t.Errorf("of embeddings: %s", text)
	}
	if text := string(modelfile(model{group: "chat", file: "/m.gguf"})); !strings.Contains(text, ".Tools") || strings.Count(text, `"""`) != 2 {
		t.Errorf("of text: %s", text)
	}
}
