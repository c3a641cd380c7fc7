//go:build corpus

package chat_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/chat/chattest"
	"github.com/diglot/diglot/engine/chat/tokenizer/tokenizertest"
)

// looksLikeControl is what looks like a control token in the source of a
// template.
var looksLikeControl = regexp.MustCompile(`<\|[^<>|\s{}]+\|?>|<[^<>|\s{}]+\|>|<｜[^<>\s{}]+｜>|\[/?[A-Z_]{3,}\]|</?(?:think|tool_call|tool_response|tools|s)>|<(?:start|end)_of_turn>`)

// TestControlTokensOfRealTemplates has the templates of real models, with
// vocabularies that have the control tokens in them, and odd ones.
func TestControlTokensOfRealTemplates(t *testing.T) {
	for name, source := range realTemplates(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spellings := append(looksLikeControl.FindAllString(source, -1), "<s>", "</s>", "<|im_end|>", "<|user|>", "<|assistant|>")
			slices.Sort(spellings)
			special := append(tokenizertest.Control(slices.Compact(spellings)...), odd...)
			v := tokenizertest.BPE("qwen2", special...)
			if len(name)%2 == 0 {
				v = tokenizertest.SPM(true, withoutStart(special)...)
			}
			subject := chattest.NewSubject(t, v, source)
			subject.Looks = looksFor(source)
			chattest.Check(t, subject, 12)
		})
	}
}

// looking is how a template looks for a text.
var looking = regexp.MustCompile(`(?:['"]([^'"]+)['"] (?:not )?in\b|(?:split|startswith|endswith|strip|lstrip|rstrip|replace|partition|find|index|eq|==|!=)[( ]*['"]([^'"]+)['"])`)

func looksFor(source string) []string {
	if strings.Contains(source, "range $name, $property := .Function.Parameters.Properties") {
		return []string{""} // sorted by their names, of which parts are replaced meanwhile
	}
	var looks []string
	for _, m := range looking.FindAllStringSubmatch(source, -1) {
		looks = append(looks, m[1]+m[2])
	}
	return looks
}

// withoutStart leaves out what a SentencePiece vocabulary has by itself.
func withoutStart(special []tokenizertest.Token) []tokenizertest.Token {
	return slices.DeleteFunc(slices.Clone(special), func(s tokenizertest.Token) bool { return s.Text == "<s>" || s.Text == "</s>" })
}

// realTemplates are the Jinja templates that tools/templates fetches, and those
// of Go that come with the library.
func realTemplates(t *testing.T) map[string]string {
	t.Helper()
	folder := os.Getenv("DIGLOT_TEMPLATES")
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		folder = filepath.Join(cache, "diglot", "templates")
	}
	library, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/ollama/ollama/template").Output()
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{}
	for _, pattern := range []string{filepath.Join(folder, "*.jinja"), filepath.Join(strings.TrimSpace(string(library)), "*.gotmpl")} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) < 20 {
			t.Fatalf("%d files are %s, %v; get templates with `go run ./tools/templates`", len(files), pattern, err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources[filepath.Base(file)] = string(source)
		}
	}
	return sources
}
