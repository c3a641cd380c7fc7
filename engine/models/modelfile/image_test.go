package modelfile

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/store"
	"github.com/diglot/diglot/engine/safetensors"
)

// tensors is a safetensors file with tensors of these names.
func tensors(t *testing.T, names ...string) []byte {
	t.Helper()
	var all []safetensors.Data
	for _, name := range names {
		all = append(all, safetensors.Data{Name: name, Type: "I8", Shape: []int64{1}, Bytes: []byte{1}})
	}
	var out bytes.Buffer
	if err := safetensors.Write(&out, all); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// imageBench has the files of image models, too. Their names say nothing.
func imageBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.file("flux", tensors(t, "double_blocks.0.x"))
	b.file("t5", tensors(t, "encoder.block.0.layer.0.SelfAttention.q.weight"))
	b.file("vae.gguf", tensors(t, "decoder.conv_in.weight"))
	b.file("tae", tensors(t, "decoder.layers.0.weight"))
	b.file("whole", tensors(t, "model.diffusion_model.double_blocks.0.x", "text_encoders.x", "vae.x"))
	b.file("other", tensors(t, "a"))
	b.file("lora", tensors(t, "double_blocks.0.lora_A.weight"))
	b.file("lora2", tensors(t, "double_blocks.1.lora_A.weight"))
	return b
}

func TestCreateImageModel(t *testing.T) {
	b := imageBench(t)
	m := b.create("base", `FROM ./vae.gguf
FROM ./flux
FROM ./t5
PARAMETER steps 8
PARAMETER cfg_scale 1.5
PARAMETER sampler euler
PARAMETER scheduler karras
PARAMETER width 256
PARAMETER height 128
PARAMETER seed 0
PARAMETER negative_prompt "blurred, dark"
LICENSE mine
`)
	d, err := Read(b.store, m)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Parts) != 3 || d.Model != "" || d.Config.ModelFamily != "FLUX" || d.Config.ModelFormat != "safetensors" || len(d.Warnings) > 0 || len(b.warnings) > 0 {
		t.Errorf("definition: %+v", d)
	}
	if first, err := os.ReadFile(d.Parts[0]); err != nil || !bytes.Contains(first, []byte("double_blocks")) {
		t.Errorf("the first part is %q, error %v", first, err)
	}
	req := engine.ImageRequest{Prompt: "p"}
	d.ApplyImage(&req)
	want := engine.ImageRequest{Prompt: "p", Width: 256, Height: 128, Drawing: engine.Drawing{
		Steps: 8, Guidance: 1.5, Sampler: "euler", Scheduler: "karras", NegativePrompt: "blurred, dark", Seed: 0, Seeded: true,
	}}
	if diff := cmp.Diff(want, req); diff != "" {
		t.Errorf("defaults -want +got\n%s", diff)
	}
	asked := engine.ImageRequest{Width: 64, Height: 64, Drawing: engine.Drawing{Steps: 2, Guidance: 3, Sampler: "heun", Scheduler: "ays", NegativePrompt: "n", Seed: 5, Seeded: true}}
	got := asked
	if d.ApplyImage(&got); !cmp.Equal(asked, got) {
		t.Errorf("what a client asked for was changed: %+v", got)
	}

	// The model written as a Modelfile is the same model.
	f, err := Of(b.store, m)
	if err != nil {
		t.Fatal(err)
	}
	if again := b.create("again", f.String()); again.Digest != m.Digest {
		t.Errorf("another model came from\n%s", f)
	}
	// A model on top of it inherits its parts.
	on, err := Read(b.store, b.create("on", "FROM base\nPARAMETER steps 3"))
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(on.Parts, d.Parts) || on.Parameters.Drawing.Steps != 3 || on.Parameters.Drawing.Sampler != "euler" {
		t.Errorf("inherited: %+v", on)
	}
}

func TestCreateImageModelFails(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"no autoencoder", "FROM ./flux\nFROM ./t5", "no autoencoder"},
		{"no text encoder", "FROM ./flux\nFROM ./vae.gguf", "no text encoder"},
		{"two autoencoders", "FROM ./whole\nFROM ./tae\nFROM ./tae", "the same role"},
		{"two models", "FROM ./whole\nFROM ./flux", "the same role"},
		{"another file", "FROM ./whole\nFROM ./other", "line 2: FROM ./other: the file is no part of an image model"},
		{"a projector", "FROM ./whole\nFROM ./mmproj.gguf", "the file is no part of an image model"},
		{"a conversation", "FROM ./whole\nSYSTEM s", "no conversation"},
		{"a template", "FROM ./whole\nTEMPLATE {{ .Prompt }}", "no conversation"},
		{"an adapter of a language model", "FROM ./whole\nADAPTER ./lora.gguf", "line 2: ADAPTER ./lora.gguf: the file is no part of an image model"},
		{"a part as a LoRA", "FROM ./whole\nADAPTER ./t5", "line 2: ADAPTER ./t5: the file is not a LoRA but a text encoder T5"},
		{"a LoRA as a part", "FROM ./whole\nFROM ./lora", "line 2: FROM ./lora: the file is a LoRA; use ADAPTER"},
		{"a LoRA of a language model", "FROM ./m.gguf\nADAPTER ./lora", "ADAPTER ./lora"},
		{"no LoRA", "FROM ./whole\nADAPTER ./none", "line 2: ADAPTER ./none"},
		{"a strength that is no number", "FROM ./whole\nADAPTER ./lora\nPARAMETER lora_strength strong", "line 3: PARAMETER lora_strength: \"strong\" is not a number"},
		{"too strong", "FROM ./whole\nADAPTER ./lora\nPARAMETER lora_strength 1 101", "101 is not between -100 and 100"},
		{"a strength of a language model", "FROM ./m.gguf\nPARAMETER lora_strength 1", "PARAMETER lora_strength is for an image model"},
		{"a sampler that is not there", "FROM ./whole\nPARAMETER steps 3\nPARAMETER sampler eulr", "line 3: PARAMETER sampler: \"eulr\" is none of euler, euler_a,"},
		{"a scheduler that is not there", "FROM ./whole\nPARAMETER scheduler Karras", "line 2: PARAMETER scheduler: \"Karras\" is none of discrete, karras,"},
		{"a header of a remote model", "FROM ./whole\nPARAMETER affinity_header X-A", "line 2: PARAMETER affinity_header is for a remote model"},
		{"a remote name", "FROM ./whole\nPARAMETER model x", "names a remote model"},
		{"steps of a language model", "FROM ./m.gguf\nPARAMETER steps 3", "line 2: PARAMETER steps is for an image model"},
		{"too many steps", "FROM ./whole\nPARAMETER steps 1001", "is not between"},
		{"no guidance", "FROM ./whole\nPARAMETER cfg_scale 0", "is not between"},
		{"another name", "FROM ./whole\nPARAMETER guidance_scale 1", "use cfg_scale"},
		{"nothing", "FROM ./whole\nPARAMETER negative_prompt \" \"", "the value is empty"},
		{"only a part", "FROM ./vae.gguf", "GGUF"},
		{"a format that is not read", "FROM ./other", "GGUF"},
	} {
		b := imageBench(t)
		_, err := b.try("x", tt.file)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestCreateWithLoRA: a model has LoRAs with their strengths, and a model on top of it
// has another one.
func TestCreateWithLoRA(t *testing.T) {
	b := imageBench(t)
	m := b.create("one", "ADAPTER ./lora\nFROM ./whole\nPARAMETER lora_strength 0.5")
	on := b.create("two", "FROM one\nADAPTER ./lora2\nPARAMETER lora_strength \"0.5 -1\"")
	for _, tt := range []struct {
		m         *store.Model
		parts     int
		strengths []float64
	}{{m, 2, []float64{0.5}}, {on, 3, []float64{0.5, -1}}} {
		d, err := Read(b.store, tt.m)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Parts) != tt.parts || len(d.Adapters) > 0 || !cmp.Equal(d.Parameters.Strengths, tt.strengths) || len(d.Warnings) > 0 {
			t.Errorf("%s: %+v", tt.m.Name, d)
		}
		f, err := Of(b.store, tt.m)
		if err != nil {
			t.Fatal(err)
		}
		if again := b.create("again", f.String()); again.Digest != tt.m.Digest {
			t.Errorf("%s: another model came from\n%s", tt.m.Name, f)
		}
	}
	if layers := on.Manifest.Layers; layers[1].MediaType != store.MediaTypeDiffusionLoRA || layers[2].MediaType != store.MediaTypeDiffusionLoRA {
		t.Errorf("layers: %+v", layers)
	}
}

// TestImageModelOfMany: a manifest that is two models at once is not served.
func TestImageModelOfMany(t *testing.T) {
	b := imageBench(t)
	text, image := b.create("text", "FROM ./m.gguf"), b.create("image", "FROM ./whole")
	both := *image
	both.Manifest.Layers = append(both.Manifest.Layers[:1:1], text.Manifest.Layers...)
	if _, err := Read(b.store, &both); err == nil || !strings.Contains(err.Error(), "both a language model and an image model") {
		t.Errorf("error %v", err)
	}
	if image.Manifest.Layers[0].MediaType != store.MediaTypeDiffusion {
		t.Errorf("layers: %+v", image.Manifest.Layers)
	}
}
