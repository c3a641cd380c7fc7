//go:build corpus

package template

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/prompt"
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
		tpl, err := compile(source, Model{}, func() time.Time { return corpusTime })
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

// TestCorpusLosesNothing renders a conversation with everything that clients
// send, in an order that strict templates refuse, and looks for its words.
func TestCorpusLosesNothing(t *testing.T) {
	add := engine.Tool{Name: "add_numbers", Description: "DESCRIPTION", Parameters: []byte(`{"type": "object", "properties": {"FIRSTKEY": {"type": "number"}}}`)}
	call := func(id string, n int) engine.ToolCall {
		return engine.ToolCall{ID: "call_" + id, Name: "add_numbers", Arguments: fmt.Sprintf(`{"FIRSTKEY": %d}`, n)}
	}
	messages := []engine.Message{
		say(engine.RoleSystem, "SYSTEMONE"), say(engine.RoleDeveloper, "SYSTEMTWO"),
		say(engine.RoleUser, "USERONE"), say(engine.RoleUser, "USERTWO"),
		callMessage("", call("a", 1111), call("b", 2222)),
		resultMessage("call_a", "add_numbers", "RESULTONE"), resultMessage("call_b", "add_numbers", "RESULTTWO"),
		say(engine.RoleUser, "USERTHREE"),
		say(engine.RoleAssistant, "ANSWERONE"),
		say(engine.RoleSystem, "SYSTEMTHREE"),
		say(engine.RoleUser, "USERFOUR"),
	}
	words := []string{"SYSTEMONE", "SYSTEMTWO", "USERONE", "USERTWO", "1111", "2222", "RESULTONE", "RESULTTWO", "USERTHREE",
		"ANSWERONE", "SYSTEMTHREE", "USERFOUR", "DESCRIPTION", "FIRSTKEY"}
	for name, source := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			tpl := mustTemplate(t, source, Model{EOS: "<EOS>"})
			got, err := tpl.Render(t.Context(), &engine.Request{Messages: messages, Tools: []engine.Tool{add}})
			if err != nil {
				t.Fatal(err)
			}
			whole := prompt.Prompt{Spans: got.Spans}.String()
			for _, w := range words {
				if !strings.Contains(whole, w) {
					t.Errorf("%s is not in the prompt: %s", w, whole)
				}
			}
			prefilled, err := tpl.Render(t.Context(), &engine.Request{Messages: append(messages[:len(messages):len(messages)], say(engine.RoleAssistant, "PREFILL"))})
			if err != nil {
				t.Fatalf("prefill: %v", err)
			}
			if text := (prompt.Prompt{Spans: prefilled.Spans}).String(); !strings.HasSuffix(text, "PREFILL") {
				t.Errorf("the prompt does not end with the text to continue: %s", text)
			}
		})
	}
}

func TestCorpusOpenings(t *testing.T) {
	sources := corpus(t)
	user := []engine.Message{say(engine.RoleSystem, "S"), say(engine.RoleUser, "U")}
	after := func(more ...engine.Message) []engine.Message { return append(user[:2:2], more...) }
	result := after(callMessage("", engine.ToolCall{ID: "call00001", Name: "f", Arguments: "{}"}), resultMessage("call00001", "f", "R"))
	prefill := after(say(engine.RoleAssistant, "P"))
	for _, tt := range []struct{ name, asked, on, off, result, prefill string }{
		{"Qwen-Qwen2.5-7B-Instruct", "", "", "", "", ""},
		{"Qwen-Qwen3-0.6B", "", "", "<think>\n\n</think>\n\n", "", "<think>\n\n</think>\n\n"},
		{"Qwen3.5-4B", "<think>\n", "<think>\n", "<think>\n\n</think>\n\n", "<think>\n", "<think>\n\n</think>\n\n"},
		{"GLM-4.7-Flash", "<think>", "<think>", "</think>", "<think>", "</think>"},
		{"llama-cpp-deepseek-r1", "<think>\n", "<think>\n", "<think>\n", "<think>\n", ""},
		{"deepseek-ai-DeepSeek-V3.1", "<think></think>", "<think>", "<think></think>", "", "<think></think>"},
		{"deepseek-ai-DeepSeek-V3.2", "<think></think>", "<think>", "<think></think>", "<think></think>", "</think>"},
		{"google-gemma-4-31B-it", "<|channel>thought\n<channel|>", "", "<|channel>thought\n<channel|>", "", ""},
		{"openai-gpt-oss-120b", "", "", "", "", "<|channel|>final<|message|>"},
		{"mistralai-Mistral-Nemo-Instruct-2407", "", "", "", "", ""},
		{"meta-llama-Llama-3.1-8B-Instruct", "", "", "", "", ""},
		{"microsoft-Phi-3.5-mini-instruct", "", "", "", "", ""},
	} {
		tpl := mustTemplate(t, sources[tt.name+".jinja"], Model{EOS: "<EOS>"})
		for _, c := range []struct {
			name     string
			messages []engine.Message
			mode     engine.ReasoningMode
			want     string
		}{
			{"asked", user, "", tt.asked}, {"on", user, engine.ReasoningOn, tt.on}, {"off", user, engine.ReasoningOff, tt.off},
			{"result", result, "", tt.result}, {"prefill", prefill, "", tt.prefill},
		} {
			got, err := tpl.Render(t.Context(), &engine.Request{Messages: c.messages, Reasoning: engine.Reasoning{Mode: c.mode}})
			if err != nil || got.Opening != c.want {
				t.Errorf("%s, %s: opening is %q, %v; want %q", tt.name, c.name, got.Opening, err, c.want)
			}
		}
	}
}

// tokenLike is what looks like a control token in the source of a template.
var tokenLike = regexp.MustCompile(`<\|[^<>|\s]+\|?>|<[^<>|\s]+\|>|<｜[^<>\s]+｜>|\[/?[A-Z_]{3,}\]`)

func TestCorpusMasks(t *testing.T) {
	for name, source := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			control := []string{"<s>", "</s>", "<|im_end|>", "<tool_call>", "</tool_call>", "<think>"}
			for _, spelling := range tokenLike.FindAllString(source, -1) {
				control = append(control, strings.ReplaceAll(spelling, "{}", ":opensource"))
			}
			checkMasking(t, source, control, 5)
		})
	}
}

// corpusFormats says which output format each template's model writes, and
// with which marks around its reasoning. Templates that are not listed have
// no tools, or a syntax that no format reads: they are told of tools in words.
var corpusFormats = []struct {
	format, think string
	templates     []string
}{
	{"hermes", "<think></think>", []string{"Bielik-11B-v3.0-Instruct", "Qwen-QwQ-32B", "Qwen-Qwen3-0.6B", "Reka-Edge"}},
	{"hermes", "", []string{"MiMo-VL", "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
		"Qwen-Qwen2.5-7B-Instruct", "ibm-granite-granite-4.0", "ibm-granite-granite-4.1"}},
	{"qwen-coder", "", []string{"Qwen3-Coder"}},
	{"qwen-coder", "<think></think>", []string{"Qwen3.5-4B", "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "StepFun3.5-Flash"}},
	{"glm", "<think></think>", []string{"GLM-4.6", "GLM-4.7-Flash", "Spark2.5", "inclusionai-ling-3.0-flash",
		"poolside-Laguna-S-2.1", "poolside-Laguna-XS-2.1", "poolside-Laguna-XS.2"}},
	{"deepseek", "<think></think>", []string{"deepseek-ai-DeepSeek-R1-Distill-Llama-8B", "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B",
		"deepseek-ai-DeepSeek-V3.1", "llama-cpp-deepseek-r1"}},
	{"dsml", "<think></think>", []string{"deepseek-ai-DeepSeek-V3.2", "deepseek-ai-DeepSeek-V4", "deepseek-ai-DeepSeek-V4-Flash-0731"}},
	{"llama3", "", []string{"meta-llama-Llama-3.1-8B-Instruct", "meta-llama-Llama-3.2-3B-Instruct", "meta-llama-Llama-3.3-70B-Instruct"}},
	{"mistral", "", []string{"Mistral-Small-3.2-24B-Instruct-2506", "mistralai-Ministral-3-14B-Reasoning-2512",
		"mistralai-Mistral-Nemo-Instruct-2407", "unsloth-mistral-Devstral-Small-2507"}},
	{"gemma", "", []string{"google-gemma-4-31B-it", "google-gemma-4-31B-it-interleaved"}},
	{"harmony", "analysis<|message|><|end|>", []string{"openai-gpt-oss-120b"}},
	{"kimi", "", []string{"Kimi-K2-Instruct", "moonshotai-Kimi-K2"}},
	{"kimi", "<think></think>", []string{"Kimi-K2-Thinking"}},
	{"minimax", "<think></think>", []string{"MiniMax-M2"}},
	{"command-r", "<|START_THINKING|><|END_THINKING|>", []string{"Cohere2MoE", "CohereForAI-c4ai-command-r7b-12-2024-tool_use"}},
	{"apertus", "", []string{"Apertus-8B-Instruct"}},
	{"nemotron", "<think></think>", []string{"NVIDIA-Nemotron-Nano-v2"}},
	{"granite", "<think></think>", []string{"ibm-granite-granite-3.3-2B-Instruct"}},
	{"lfm2", "<think></think>", []string{"LFM2.5-8B-A1B"}},
	{"generic", "", []string{"CohereForAI-c4ai-command-r-plus-tool_use", "GigaChat3-10B-A1.8B", "GigaChat3.1-10B-A1.8B", "MiniMax-M1",
		"unsloth-Apriel-1.5"}},
	{"generic", "<|begin_assistant|>[BEGIN FINAL RESPONSE]", []string{"Apriel-1.6-15b-Thinker-fixed"}},
	{"generic", "<seed:think></seed:think>", []string{"ByteDance-Seed-OSS"}},
	{"generic", "<|think|><|end|>", []string{"upstage-Solar-Open-100B"}},
	{"generic", "<think:opensource></think:opensource>", []string{"tencent-Hy3"}},
	{"functionary", "", []string{"meetkai-functionary-medium-v3.1"}},
}

func TestCorpusProbe(t *testing.T) {
	sources := corpus(t)
	native := map[string]bool{}
	for _, row := range corpusFormats {
		for _, name := range row.templates {
			native[name] = true
			tpl := mustTemplate(t, sources[name+".jinja"], Model{EOS: "<EOS>"})
			s := tpl.caps.Syntax
			if tpl.format != row.format || s.ReasoningStart+s.ReasoningEnd != row.think || !tpl.caps.Tools && !tpl.caps.ToolCalls {
				t.Errorf("want %s %s: %s", row.format, row.think, describeTemplate(name, tpl))
			}
		}
	}
	for file, source := range sources {
		name := strings.TrimSuffix(file, ".jinja")
		tpl := mustTemplate(t, source, Model{EOS: "<EOS>"})
		t.Log(describeTemplate(name, tpl))
		if !native[name] && (tpl.format != fallbackFormat || tpl.caps.Tools || tpl.caps.ToolCalls) {
			t.Errorf("want the fallback: %s", describeTemplate(name, tpl))
		}
	}
}

// describeTemplate is all that was learnt about a template, in one line.
func describeTemplate(name string, t *Template) string {
	c, s := t.caps, t.caps.Syntax
	var flags []string
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"system", c.System}, {"anywhere", c.SystemAnywhere}, {"developer", c.Developer}, {"typed", c.TypedContent},
		{"tools", c.Tools}, {"calls", c.ToolCalls}, {"parallel", c.ParallelCalls}, {"objects", c.ObjectArguments},
		{"strings", c.StringArguments}, {"null", c.NullContent}, {"shortids", c.ShortIDs}, {"switch", c.ThinkingSwitch},
	} {
		if f.set {
			flags = append(flags, f.name)
		}
	}
	flags = append(flags, c.Efforts...)
	out := fmt.Sprintf("%s | %s | %s | %q | %q %q", name, t.format, strings.Join(flags, " "), t.header, s.ReasoningStart, s.ReasoningEnd)
	switch s.Kind {
	case format.SyntaxJSON:
		out += fmt.Sprintf(" | json %q %q %q %q %q %s %s %s %t", s.SectionStart, s.CallStart, s.CallEnd, s.Separator, s.SectionEnd, s.NameField, s.ArgumentsField, s.IDField, s.Array)
	case format.SyntaxNamed:
		out += fmt.Sprintf(" | named %q %q %q %q %q %q", s.SectionStart, s.CallStart, s.NameEnd, s.CallEnd, s.Separator, s.SectionEnd)
	case format.SyntaxTagged:
		out += fmt.Sprintf(" | tagged %q %q %q %q %q %q %q %q %q", s.SectionStart, s.CallStart, s.NameEnd, s.ArgumentStart, s.KeyEnd, s.ArgumentEnd, s.CallEnd, s.Separator, s.SectionEnd)
	}
	return out
}
