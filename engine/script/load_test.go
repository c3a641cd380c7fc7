package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine/chat"
	"github.com/google/go-cmp/cmp"
)

const example = `
models:
  scripted:
    format: hermes
    context: 2048
    vision: true
    embedding: 8
    replies:
      - when: {contains: weather}
        pieces: ["<tool_call>\n{\"name\": \"get", "_weather\", \"arguments\": {}}\n</tool_call>"]
      - pieces: ["Hel", "lo ", {sleep: 20ms}, {base64: "4pw="}, {base64: "kw=="}, " done"]
        finish: length
        prompt_tokens: 7
  defaults:
    replies:
      - pieces: []
`

func TestLoad(t *testing.T) {
	models, err := Load(strings.NewReader(example))
	if err != nil {
		t.Fatal(err)
	}
	if len(models) != 2 {
		t.Fatalf("got %d models, want 2", len(models))
	}
	want := []chat.Info{
		{Name: "defaults", Owner: "library", Format: "plain", Context: 4096},
		{Name: "scripted", Owner: "library", Format: "hermes", Context: 2048, Vision: true,
			Vectors: chat.Vectors{Size: 8, Input: 2048, Vocabulary: vocabulary}},
	}
	for i, m := range models {
		if diff := cmp.Diff(want[i], m.Info()); diff != "" {
			t.Errorf("model %d (-want +got):\n%s", i, diff)
		}
	}
	seven := 7
	wantReplies := []reply{
		{
			contains: "weather",
			pieces: []piece{
				{text: []byte("<tool_call>\n{\"name\": \"get")},
				{text: []byte("_weather\", \"arguments\": {}}\n</tool_call>")},
			},
			finish: finishStop,
		},
		{
			pieces: []piece{
				{text: []byte("Hel")}, {text: []byte("lo ")}, {sleep: 20 * time.Millisecond},
				{text: []byte("\xe2\x9c")}, {text: []byte("\x93")}, {text: []byte(" done")},
			},
			finish:       finishLength,
			promptTokens: &seven,
		},
	}
	if diff := cmp.Diff(wantReplies, models[1].replies, cmp.AllowUnexported(reply{}, piece{})); diff != "" {
		t.Errorf("replies (-want +got):\n%s", diff)
	}
}

// TestFormats loads every format that scripts were promised.
func TestFormats(t *testing.T) {
	for _, format := range []string{"hermes", "llama3", "mistral", "gemma", "deepseek", "harmony", "plain"} {
		models, err := Load(strings.NewReader("models: {m: {format: " + format + ", replies: [{pieces: [a]}]}}"))
		if err != nil || models[0].Info().Format != format {
			t.Errorf("format %s: %v", format, err)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	model := func(lines string) string { return "models:\n  m:\n" + lines }
	reply := func(lines string) string { return model("    replies:\n      - pieces: [a]\n" + lines) }
	pieces := func(list string) string { return model("    replies:\n      - pieces: " + list + "\n") }
	for _, tt := range []struct{ name, script, want string }{
		{"empty", "", "line 1: the script is empty"},
		{"comment only", "# nothing\n", "line 1: the script is empty"},
		{"not yaml", "models: [", "line 1: did not find expected node content"},
		{"not a mapping", "- a\n", "line 1: expected a mapping"},
		{"no models", "{}\n", "line 1: models is missing"},
		{"empty models", "models: {}\n", "line 1: models is empty"},
		{"models is a list", "models: []\n", "line 1: expected a mapping"},
		{"a control character", "models:\n  m:\n    vision: \x01\n    context: 9\n", "line 3: control characters are not allowed"},
		{"no UTF-8", "models:\n  m: {replies: [{pieces: [\"\xff\"]}]}\n", "line 2: invalid"},
		{"an unknown anchor", "models:\n  m: {}\n  n: *a\n", "line 3: unknown anchor"},
		{"a name twice", "models:\n  m: {replies: [{pieces: [a]}]}\n  'm:latest': {replies: [{pieces: [a]}]}\n", `line 3: duplicate model "m:latest"`},
		{"two documents", "models: {m: {replies: [{pieces: [a]}]}}\n---\na: b\n", "another follows"},
		{"unknown top key", "modles: {}\n", `line 1: unknown key "modles"`},
		{"same model twice", "models:\n  m: {replies: [{pieces: [a]}]}\n  m: {replies: [{pieces: [a]}]}\n", `line 3: duplicate key "m"`},
		{"empty name", "models:\n  '': {replies: [{pieces: [a]}]}\n", "line 2: a model needs a name"},
		{"unknown model key", model("    temprature: 1\n"), `line 3: unknown key "temprature"`},
		{"unknown format", model("    format: klingon\n"), `line 3: "klingon" is none of `},
		{"context not a number", model("    context: many\n"), "line 3: expected a whole number from 1"},
		{"context quoted", model("    context: '8'\n"), "line 3: expected a whole number from 1"},
		{"context zero", model("    context: 0\n"), "line 3: expected a whole number from 1"},
		{"context beyond memory", model("    context: 99999999999\n"), "line 3: expected a whole number from 1"},
		{"vision", model("    vision: 1\n"), "line 3: expected true or false"},
		{"no replies", model("    context: 9\n"), `line 3: model "m" needs replies, embedding or image`},
		{"empty replies", model("    replies: []\n"), `line 3: model "m" needs replies, embedding or image`},
		{"an image and a reply", model("    image: true\n    replies: [{pieces: [a]}]\n"), `line 3: model "m" has image: true, which excludes replies and embedding`},
		{"an image and an embedding", model("    image: true\n    embedding: 8\n"), `line 3: model "m" has image: true, which excludes replies and embedding`},
		{"null model", "models:\n  m:\n", "line 2: expected a mapping"},
		{"replies is a mapping", model("    replies: {}\n"), "line 3: expected a list"},
		{"no pieces", model("    replies:\n      - finish: stop\n"), "line 4: the reply has no pieces"},
		{"unknown reply key", reply("        pause: 1s\n"), `line 5: unknown key "pause"`},
		{"unknown finish", reply("        finish: explode\n"), `line 5: "explode" is none of stop, length, crash, stall`},
		{"unknown when", reply("        when: {matches: a}\n"), `line 5: unknown key "matches"`},
		{"contains a number", reply("        when: {contains: 5}\n"), "line 5: expected a string"},
		{"negative count", reply("        prompt_tokens: -1\n"), "line 5: expected a whole number from 0"},
		{"number as a piece", pieces("[5]"), "line 4: expected a string; quote it"},
		{"null as a piece", pieces("[~]"), "line 4: expected a string; quote it"},
		{"bad base64", pieces(`[{base64: "4pw"}]`), `line 4: "4pw" is not base64`},
		{"bad duration", pieces("[{sleep: soon}]"), `line 4: "soon" is not a duration`},
		{"negative duration", pieces("[{sleep: -1s}]"), `line 4: "-1s" is not a duration`},
		{"unknown piece", pieces("[{hex: ff}]"), `line 4: unknown key "hex"`},
		{"empty piece", pieces("[{}]"), "line 4: a piece is a string"},
		{"two pieces in one", pieces(`[{base64: "", sleep: 1s}]`), "line 4: a piece is a string"},
		{"list as a piece", pieces("[[a]]"), "line 4: expected a mapping"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			models, err := Load(strings.NewReader(tt.script))
			if err == nil {
				t.Fatalf("loaded %d models, want an error with %q", len(models), tt.want)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q, want one with %q", err, tt.want)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script.yaml")
	if err := os.WriteFile(path, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	changed := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	if err := os.Chtimes(path, changed, changed); err != nil {
		t.Fatal(err)
	}
	models, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range models {
		if got := m.Info().Changed; !got.Equal(changed) {
			t.Errorf("model %s changed at %v, want the file's %v", m.Info().Name, got, changed)
		}
	}
	if _, err := Open(path + ".missing"); err == nil {
		t.Error("a missing file opened")
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(example)
	f.Add("a: &a [*a]\nmodels: *a\n")
	f.Add("models:\n  m: &m {replies: [{pieces: [a]}]}\n  n: *m\n")
	f.Fuzz(func(t *testing.T, script string) {
		models, err := Load(strings.NewReader(script))
		if (err == nil) != (len(models) > 0) {
			t.Errorf("%d models and error %v", len(models), err)
		}
	})
}
