package modelfile

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/api"

	"github.com/diglot/diglot/engine"
)

// TestTable holds that every parameter has an effect or a reason, and that
// none of Ollama's is missing.
func TestTable(t *testing.T) {
	var names []string
	for _, p := range table {
		if (p.set == nil) == (p.why == "") {
			t.Errorf("%s has an effect and a reason why it has none, or neither", p.name)
		}
		if strings.HasSuffix(p.why, ".") {
			t.Errorf("%s: the reason is the end of a sentence, and its full stop comes by itself", p.name)
		}
		names = append(names, p.name)
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("a parameter is there twice: %v", names)
	}
	var ollama []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[api.Options]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			ollama = append(ollama, name)
		}
	}
	ollama = append(ollama, "penalize_newline", "low_vram", "f16_kv", "logits_all", "vocab_only", "use_mlock", "mirostat", "mirostat_tau", "mirostat_eta", "tfs_z", "numa", "num_gqa")
	for _, name := range ollama {
		if !slices.Contains(names, name) {
			t.Errorf("%s of Ollama is missing", name)
		}
	}
	for theirs, ours := range synonyms {
		if _, ok := find(ours); !ok || slices.Contains(names, theirs) {
			t.Errorf("%s is not another name of %s", theirs, ours)
		}
	}
}

func TestParameters(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		want        Parameters
	}{
		{"num_ctx", "4096", Parameters{Context: new(4096)}},
		{"num_ctx", "4096.0", Parameters{Context: new(4096)}},
		{"num_thread", "3", Parameters{Threads: new(3)}},
		{"num_thread", "0", Parameters{}},
		{"num_predict", "42", Parameters{MaxTokens: new(42)}},
		{"num_predict", "-1", Parameters{}},
		{"num_predict", "-2", Parameters{}},
		{"stop", " a ", Parameters{Stop: []string{" a "}}},
		{"temperature", "0", Parameters{Sampling: engine.Sampling{Temperature: new(0.0)}}},
		{"temperature", "1e-1", Parameters{Sampling: engine.Sampling{Temperature: new(0.1)}}},
		{"top_p", "1", Parameters{Sampling: engine.Sampling{TopP: new(1.0)}}},
		{"top_k", "0", Parameters{Sampling: engine.Sampling{TopK: new(0)}}},
		{"top_k", "-1", Parameters{Sampling: engine.Sampling{TopK: new(0)}}},
		{"min_p", "0.05", Parameters{Sampling: engine.Sampling{MinP: new(0.05)}}},
		{"typical_p", "0.5", Parameters{Sampling: engine.Sampling{TypicalP: new(0.5)}}},
		{"repeat_penalty", "1.1", Parameters{Sampling: engine.Sampling{RepeatPenalty: new(1.1)}}},
		{"repeat_last_n", "-1", Parameters{Sampling: engine.Sampling{RepeatLastN: new(-1)}}},
		{"presence_penalty", "-1.5", Parameters{Sampling: engine.Sampling{PresencePenalty: new(-1.5)}}},
		{"frequency_penalty", "2", Parameters{Sampling: engine.Sampling{FrequencyPenalty: new(2.0)}}},
		{"seed", "9007199254740993", Parameters{Sampling: engine.Sampling{Seed: new(int64(9007199254740993))}}},
		{"seed", "-1", Parameters{}},
		{"affinity_header", "X-Session-ID", Parameters{AffinityHeader: "X-Session-ID"}},
		{"affinity_header", "-", Parameters{AffinityHeader: "-"}},
		{"num_gpu", "99", Parameters{}},
		{"numa", "false", Parameters{}},
		{"mirostat_tau", "5.0", Parameters{}},
	} {
		r, err := check(file(From, "", "m", Parameter, tt.name, tt.value), nil)
		if err != nil {
			t.Errorf("%s %s: %v", tt.name, tt.value, err)
			continue
		}
		if diff := cmp.Diff(tt.want, r.params.parameters()); diff != "" {
			t.Errorf("%s %s: %s", tt.name, tt.value, diff)
		}
		known, _ := find(tt.name)
		if idle := known.set == nil; idle != (len(r.warnings) == 1) {
			t.Errorf("%s %s: warnings %q", tt.name, tt.value, r.warnings)
		}
	}
}

// TestEffects holds that each parameter sets something, and another thing than
// the others.
func TestEffects(t *testing.T) {
	seen := map[string]string{}
	for _, p := range table {
		if p.set == nil {
			continue
		}
		text := "1"
		if p.kind == choice {
			text = p.names[1]
		}
		value, err := p.read(text)
		if err != nil {
			t.Fatal(err)
		}
		var got Parameters
		p.set(&got, value)
		raw, _ := json.Marshal(got)
		if other, ok := seen[string(raw)]; ok {
			t.Errorf("%s sets what %s sets: %s", p.name, other, raw)
		}
		seen[string(raw)] = p.name
		if cmp.Equal(got, Parameters{}) {
			t.Errorf("%s sets nothing", p.name)
		}
	}
}

func TestParameterErrors(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"num_ctx", "0", "0 is not between 1 and 16777216"},
		{"num_ctx", "99999999999", "is not between 1 and 16777216"},
		{"num_ctx", "4k", `"4k" is not a whole number`},
		{"num_ctx", "1.5", "is not a whole number"},
		{"num_ctx", "4096 # tokens", "is not a whole number"},
		{"num_ctx", "1e300", "is not a whole number"},
		{"num_ctx", "", "is not a whole number"},
		{"seed", "9223372036854775808", "is not a whole number"},
		{"num_predict", "-3", "-3 is not between -2 and"},
		{"temperature", "-0.1", "-0.1 is not between 0 and 100"},
		{"temperature", "warm", `"warm" is not a number`},
		{"temperature", "NaN", "is not a number"},
		{"temperature", "inf", "is not a number"},
		{"top_p", "1.01", "1.01 is not between 0 and 1"},
		{"use_mmap", "maybe", `"maybe" is neither true nor false`},
		{"stop", "", "the value is empty"},
		{"stop", strings.Repeat("x", maxStop+1), "longer than 1024"},
		{"model", " ", "the value is empty"},
		{"affinity_header", "", "is not a header name"},
		{"affinity_header", "X Session", `"X Session" is not a header name`},
		{"affinity_header", "X-Session: a", "is not a header name"},
		{"affinity_header", "X-Session\r\nHost", "is not a header name"},
		{"affinity_header", "X-Sitzungsschlüssel", "is not a header name"},
		{"affinity_header", strings.Repeat("x", maxHeader+1), "the limit is 64"},
		{"affinity_header", "authorization", "is reserved"},
		{"affinity_header", "HOST", "is reserved"},
		{"affinity_header", "Content-Length", "is reserved"},
		{"affinity_header", "X-Forwarded-For", "is reserved"},
	} {
		_, err := check(file(From, "", "m", Parameter, tt.name, tt.value), nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "PARAMETER "+tt.name) {
			t.Errorf("%s %.20s: %v, want %q", tt.name, tt.value, err, tt.want)
		}
	}
	many := file(From, "", "m")
	for range maxStops + 1 {
		many.add(Parameter, "stop", "x")
	}
	if _, err := check(many, nil); err == nil || !strings.Contains(err.Error(), "257 values are more than 256") {
		t.Errorf("too many: %v", err)
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"num_ctxx": "num_ctx", "temperatur": "temperature", "tmperature": "temperature", "topp": "top_p", "repeat": "repeat_penalty", "presence": "presence_penalty",
		"mirostat_ta": "mirostat_tau",
	} {
		if got := nearest(name); !slices.Contains(got, want) {
			t.Errorf("%s: %v, want %s", name, got, want)
		}
	}
	if got := nearest("something"); got != nil {
		t.Errorf("something is near to %v", got)
	}
}

// TestParams reads what programs wrote into stores.
func TestParams(t *testing.T) {
	for _, tt := range []struct {
		name, json string
		want       Parameters
		warnings   []string
	}{
		{"nothing", `{}`, Parameters{}, nil},
		{"as Ollama", `{"num_ctx":4096,"stop":["a","b"],"temperature":0.7}`, Parameters{Context: new(4096), Stop: []string{"a", "b"}, Sampling: engine.Sampling{Temperature: new(0.7)}}, nil},
		{"other numbers", `{"num_ctx":4.096e3,"top_k":40.0,"temperature":1}`, Parameters{Context: new(4096), Sampling: engine.Sampling{TopK: new(40), Temperature: new(1.0)}}, nil},
		{"texts for numbers", `{"num_ctx":"4096","temperature":"0.5","use_mmap":"true"}`, Parameters{Context: new(4096), Sampling: engine.Sampling{Temperature: new(0.5)}},
			[]string{"PARAMETER use_mmap has no effect: memory placement is decided when the model is loaded."}},
		{"one stop, and empty ones", `{"stop":"a"}`, Parameters{Stop: []string{"a"}}, nil},
		{"empty ones", `{"stop":["","a",""]}`, Parameters{Stop: []string{"a"}}, nil},
		{"null", `{"num_ctx":null,"foo":null}`, Parameters{}, nil},
		{"wrong ones are left out", `{"num_ctx":-1,"top_p":{"a":1},"stop":[1],"seed":7}`, Parameters{Sampling: engine.Sampling{Seed: new(int64(7))}}, []string{
			"PARAMETER num_ctx has no effect: -1 is not between 1 and 16777216.",
			`PARAMETER stop has no effect: "[1]" is not text.`,
			`PARAMETER top_p has no effect: "{\"a\":1}" is not a number.`,
		}},
		{"a header that is none", `{"affinity_header":"Host"}`, Parameters{}, []string{"PARAMETER affinity_header has no effect: the header Host is reserved; use one such as X-Session-ID."}},
		{"unknown", `{"foo":1,"model":"x"}`, Parameters{}, []string{"PARAMETER \"foo\" has no effect: it is unknown.", "PARAMETER model has no effect: it is unknown."}},
	} {
		values, err := readParams([]byte(tt.json))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, values.parameters()); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if diff := cmp.Diff(tt.warnings, values.warnings()); diff != "" {
			t.Errorf("%s: warnings %s", tt.name, diff)
		}
	}
	for _, text := range []string{"", "null x", "[]", `"a"`, `{"a":`, "1"} {
		if _, err := readParams([]byte(text)); err == nil {
			t.Errorf("%q is taken for parameters", text)
		}
	}
}

func FuzzParams(f *testing.F) {
	f.Add([]byte(`{"num_ctx":4096,"stop":["a"],"temperature":"0.7","seed":1e3,"use_mmap":true,"x":{}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		values, err := readParams(raw)
		if err != nil {
			return
		}
		values.parameters()
		values.warnings()
		text, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		again, err := readParams(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(values.parameters(), again.parameters()); diff != "" {
			t.Fatal(diff)
		}
	})
}
