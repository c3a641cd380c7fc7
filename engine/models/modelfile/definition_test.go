package modelfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/store"
)

const fixtures = "../store/testdata"

// ollama is a copy of the store that Ollama wrote.
func (b *bench) ollama() *store.Store {
	b.t.Helper()
	dir := b.t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(fixtures, "ollama"))); err != nil {
		b.t.Fatal(err)
	}
	store, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		b.t.Fatal(err)
	}
	return store
}

func (b *bench) model(s *store.Store, name string) *store.Model {
	b.t.Helper()
	m, err := s.Model(b.name(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// TestReadOllama reads what Ollama made of the Modelfiles beside it.
func TestReadOllama(t *testing.T) {
	b := newBench(t)
	b.store = b.ollama()
	tiny := &Definition{
		System: "You are a tiny model.\nYou have two lines.",
		Messages: []engine.Message{
			{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "Who are you?"}}},
			{Role: engine.RoleAssistant, Parts: []engine.Part{engine.Text{Text: "A fixture, and a small one."}}},
		},
		Parameters: Parameters{Context: new(256), Stop: []string{"user:", "</end>"}, Sampling: engine.Sampling{
			Temperature: new(0.25), TopK: new(7), TopP: new(0.5), RepeatPenalty: new(1.3), Seed: new(int64(42))}},
		Licenses: []string{"The first license: do what you like.", "The second license: and be kind."},
	}
	withLora := *tiny
	withLora.Parameters.Sampling.Temperature = new(0.0)
	for name, want := range map[string]*Definition{"tiny:v1": tiny, "gpt-4o": tiny, "hf.co/org/Tiny-GGUF:Q4_K_M": tiny, "someone/tiny-lora": &withLora} {
		got, err := Read(b.store, b.model(b.store, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Definition{}, "Model", "Adapters", "Template", "Config")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if len(got.Adapters) != strings.Count(name, "lora") || got.Config.ModelFamily != "llama" {
			t.Errorf("%s: adapters %v, config %+v", name, got.Adapters, got.Config)
		}
		for _, path := range append([]string{got.Model, got.Template}, got.Adapters...) {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestCreateLikeOllama makes a model of the Modelfile that Ollama was
// given. Its layers must be the same, byte for byte and in the same order.
func TestCreateLikeOllama(t *testing.T) {
	b := newBench(t)
	b.store = b.ollama()
	theirs := b.model(b.store, "tiny:v1")
	weights, err := os.ReadFile(b.store.BlobPath(theirs.Manifest.Layers[0].Digest))
	if err != nil {
		t.Fatal(err)
	}
	b.file("tiny.gguf", weights)
	text, err := os.ReadFile(filepath.Join(fixtures, "ollama-source", "tiny.modelfile"))
	if err != nil {
		t.Fatal(err)
	}
	ours := b.create("mine", string(text))
	// Ollama notes the path of a file; that is nobody's business.
	origin := cmpopts.IgnoreFields(store.Layer{}, "From")
	if diff := cmp.Diff(theirs.Manifest.Layers, ours.Manifest.Layers, origin); diff != "" {
		t.Errorf("of the file: %s", diff)
	}
	again, _ := b.again(theirs)
	if diff := cmp.Diff(theirs.Manifest.Layers, again.Manifest.Layers, origin); diff != "" {
		t.Errorf("of what Of says: %s", diff)
	}
	derived := b.create("derived", "FROM tiny:v1")
	if diff := cmp.Diff(theirs.Manifest.Layers, derived.Manifest.Layers, origin); diff != "" {
		t.Errorf("of the name: %s", diff)
	}
}

// layer is a part of a model that a test puts together.
type layer struct{ mediaType, content string }

// put makes a model of layers, as a program might that is not this one.
func (b *bench) put(config string, layers ...layer) *store.Model {
	b.t.Helper()
	c, err := b.store.Begin(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	defer c.Close()
	write := func(l layer) store.Layer {
		w, err := c.Write(b.t.Context(), l.mediaType, strings.NewReader(l.content))
		if err != nil {
			b.t.Fatal(err)
		}
		return w
	}
	manifest := store.Manifest{Config: write(layer{store.MediaTypeConfig, config})}
	for _, l := range layers {
		manifest.Layers = append(manifest.Layers, write(l))
	}
	raw, err := manifest.Encode()
	if err != nil {
		b.t.Fatal(err)
	}
	m, err := c.Put(b.t.Context(), b.name("strange"), raw)
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

func TestReadErrors(t *testing.T) {
	b := newBench(t)
	model := layer{store.MediaTypeModel, string(llama().Bytes())}
	for _, tt := range []struct {
		name, config string
		layers       []layer
		want         string
	}{
		{"no model", `{}`, nil, "it has no GGUF file"},
		{"tensors", `{}`, []layer{{mediaTypeTensor, "x"}}, "it has no GGUF file"},
		{"two models", `{}`, []layer{model, {store.MediaTypeModel, "other"}}, "the GGUF file is there more than once"},
		{"two projectors", `{}`, []layer{model, {store.MediaTypeProjector, "a"}, {store.MediaTypeProjector, "b"}}, "the projector is there more than once"},
		{"config", `[]`, []layer{model}, "config"},
		{"parameters", `{}`, []layer{model, {store.MediaTypeParams, "[1]"}}, "the parameters are not a JSON object"},
		{"messages", `{}`, []layer{model, {store.MediaTypeMessages, `{"role":"user"}`}}, "the messages are not a JSON array"},
		{"too many images", `{}`, []layer{model, {store.MediaTypeMessages, `[{"role":"user","images":[` + strings.Repeat(`"YQ==",`, 100) + `"YQ=="]}]`}}, "more than 100 images"},
		{"long system text", `{}`, []layer{model, {store.MediaTypeSystem, strings.Repeat("x", maxText+1)}}, "the system text: "},
		{"long template", `{}`, []layer{model, {store.MediaTypeTemplate, strings.Repeat("x", maxText+1)}}, "the template: "},
		{"long parameters", `{}`, []layer{model, {store.MediaTypeParams, strings.Repeat(" ", maxText+1)}}, "the parameters: "},
		{"remote without a name", `{"remote_host":"https://h/v1"}`, nil, "its name on the remote server is missing"},
		{"remote with a password", `{"remote_host":"https://u:p@h/v1","remote_model":"m"}`, nil, "diglot login h"},
		{"remote that a shell would read", `{"remote_host":"https://u@$(id)/v1","remote_model":"m"}`, nil, "is not a URL"},
		{"remote in two lines", `{"remote_host":"https://h\n/v1","remote_model":"m"}`, nil, "is not a URL"},
		{"remote with a blank", `{"remote_host":"https://h h/v1","remote_model":"m"}`, nil, "is not a URL"},
		{"remote that is a file", `{"remote_host":"file:///etc","remote_model":"m"}`, nil, "is not a URL"},
	} {
		_, err := Read(b.store, b.put(tt.config, tt.layers...))
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "strange") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestReadDamage(t *testing.T) {
	b := newBench(t)
	m := b.create("m", "FROM m.gguf\nSYSTEM secret\nADAPTER lora.gguf")
	damage := func(l store.Layer, content []byte) {
		path := b.store.BlobPath(l.Digest)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if content == nil {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = Read(b.store, m)
		if err == nil || !strings.HasPrefix(err.Error(), "model m: ") {
			t.Errorf("%s is damaged: %v", l.MediaType, err)
		}
		if err := os.WriteFile(path, good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range m.Manifest.Layers {
		damage(l, nil)
		damage(l, []byte("x"))
	}
	damage(m.Manifest.Layers[2], bytes.ToUpper([]byte("secret")))
	if _, err := Read(b.store, m); err != nil {
		t.Errorf("repaired: %v", err)
	}
}

// TestReadTemplateBesideRenderer holds which templates are those of a model:
// one that a RENDERER makes meaningless gives way to the one in the GGUF file.
func TestReadTemplateBesideRenderer(t *testing.T) {
	b := newBench(t)
	model := layer{store.MediaTypeModel, string(llama().Bytes())}
	for _, tt := range []struct {
		config, template string
		own              bool
	}{
		{`{}`, "{{ .Prompt }}", true}, // of a model that only continues texts
		{`{"parser":"p"}`, "{{ .Prompt }}", true},
		{`{"renderer":"r"}`, "{{ .Prompt }}", false},
		{`{"renderer":"r"}`, "\n{{- .Prompt -}}\n", false},
		{`{"renderer":"r"}`, "user: {{ .Prompt }}", true},
		{`{"renderer":"r"}`, "{{ range .Messages }}{{ .Content }}{{ end }}", true},
	} {
		d, err := Read(b.store, b.put(tt.config, model, layer{store.MediaTypeTemplate, tt.template}))
		if err != nil || (d.Template != "") != tt.own {
			t.Errorf("config %s, template %q: %+v, error %v; want it used: %v", tt.config, tt.template, d, err, tt.own)
		}
	}
}

func TestReadStrange(t *testing.T) {
	b := newBench(t)
	model := layer{store.MediaTypeModel, string(llama().Bytes())}
	d, err := Read(b.store, b.put(`{"model_format":"gguf","renderer":"r","parser":"p"}`, model,
		layer{mediaTypePrompt, "old {{ .Prompt }}"},
		layer{"application/vnd.ollama.image.embed", "x"},
		layer{store.MediaTypeSystem, "a\xffb"},
		layer{store.MediaTypeMessages, `[{"role":"USER","content":"look","images":["YQ=="]},{"role":"tool","content":"t"},{"role":"assistant"}]`}))
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(d.Template); err != nil || string(raw) != "old {{ .Prompt }}" || d.System != "a\ufffdb" {
		t.Errorf("template %q (%v), system %q", raw, err, d.System)
	}
	want := []engine.Message{
		{Role: engine.RoleUser, Parts: []engine.Part{engine.Image{Data: []byte("a")}, engine.Text{Text: "look"}}},
		{Role: engine.RoleAssistant, Parts: []engine.Part{engine.Text{}}},
	}
	if diff := cmp.Diff(want, d.Messages); diff != "" {
		t.Errorf("messages: %s", diff)
	}
	if len(d.Warnings) != 3 || !strings.Contains(fmt.Sprint(d.Warnings), `Message 2 has no effect: its role is "tool"`) {
		t.Errorf("warnings: %q", d.Warnings)
	}
	f, err := Of(b.store, b.put(`{}`, model, layer{store.MediaTypeSystem, "a\xffb"}, layer{store.MediaTypeLicense, strings.Repeat("x", maxText+1)}, layer{"application/x", "x"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Omitted: SYSTEM, which is not UTF-8", "Omitted: LICENSE of 1048577 bytes", `Omitted: a layer of type "application/x"`} {
		if !strings.Contains(f.String(), want) {
			t.Errorf("no %q in %s", want, f)
		}
	}
	many := `{"remote_host":"https://h","remote_model":"m"}`
	if d, err = Read(b.store, b.put(many, layer{store.MediaTypeMessages, "[" + strings.Repeat(`{"role":"x"},`, 99) + `{}]`})); err != nil || len(d.Warnings) != maxWarnings+1 {
		t.Errorf("%d warnings, %v", len(d.Warnings), err)
	}
	here, err := Read(b.store, b.put(`{}`, model, layer{store.MediaTypeParams, `{"affinity_header":"X-A"}`}))
	if err != nil || len(here.Warnings) != 1 || !strings.Contains(here.Warnings[0], "affinity_header has no effect: the model is not a remote one") {
		t.Errorf("of a model that is here: %+v, %v", here, err)
	}
	cloud, err := Read(b.store, b.put(`{"remote_host":"https://ollama.com:443","remote_model":"big","capabilities":["completion"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Remote{URL: "https://ollama.com:443/v1", Model: "big"}, cloud.Remote); diff != "" {
		t.Errorf("a stub of Ollama's: %s", diff)
	}
}
