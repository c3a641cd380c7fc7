package diffusion

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/safetensors"
)

// write writes a file with tensors of one row of the given width.
func write(t *testing.T, width int64, names ...string) string {
	t.Helper()
	var tensors []safetensors.Data
	for _, name := range names {
		tensors = append(tensors, safetensors.Data{Name: name, Type: "I8", Shape: []int64{1, width}, Bytes: make([]byte, width)})
	}
	var out bytes.Buffer
	if err := safetensors.Write(&out, tensors); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "anything")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestInspect(t *testing.T) {
	for _, tt := range []struct {
		name   string
		width  int64
		tensor []string
		role   Role
		family string
	}{
		{"SD 1.5", 1, []string{"model.diffusion_model.input_blocks.0.0.weight", "cond_stage_model.x"}, Whole, "Stable Diffusion"},
		{"SDXL", 1, []string{"model.diffusion_model.input_blocks.0.0.weight", "model.diffusion_model.label_emb.0.0.weight"}, Whole, "Stable Diffusion XL"},
		{"SDXL without parts", 1, []string{"input_blocks.0.0.weight", "label_emb.0.0.weight"}, Diffusion, "Stable Diffusion XL"},
		{"SD3", 1, []string{"model.diffusion_model.joint_blocks.0.x"}, Whole, "Stable Diffusion 3"},
		{"FLUX", 1, []string{"double_blocks.0.img_attn.qkv.weight"}, Diffusion, "FLUX"},
		{"FLUX.2", 1, []string{"double_blocks.0.x", "double_stream_modulation_img.lin.weight", "single_blocks.47.linear1.weight"}, Diffusion, "FLUX.2"},
		{"FLUX.2 klein", 1, []string{"double_blocks.0.x", "double_stream_modulation_img.lin.weight"}, Diffusion, "FLUX.2 klein"},
		{"Qwen-Image", 1, []string{"transformer_blocks.0.img_mod.1.weight"}, Diffusion, "Qwen-Image"},
		{"Z-Image", 1, []string{"cap_embedder.0.weight"}, Diffusion, "Z-Image"},
		{"CLIP-L", 768, []string{"text_model.embeddings.token_embedding.weight"}, ClipL, ""},
		{"CLIP-G", 1280, []string{"text_model.embeddings.token_embedding.weight"}, ClipG, ""},
		{"T5", 1, []string{"encoder.block.0.layer.0.SelfAttention.q.weight"}, T5, ""},
		{"Qwen3", 1, []string{"model.layers.0.self_attn.q_proj.weight"}, LLM, ""},
		{"VAE", 1, []string{"decoder.conv_in.weight"}, VAE, ""},
		{"TAE", 1, []string{"decoder.layers.0.weight"}, TAE, ""},
		{"LoRA of diffusers", 1, []string{"transformer.single_transformer_blocks.0.attn.to_q.lora_A.weight", "transformer.single_transformer_blocks.0.attn.to_q.lora_B.weight"}, LoRA, ""},
		{"LoRA of kohya", 1, []string{"lora_unet_input_blocks_1_1_proj_in.lora_down.weight"}, LoRA, ""},
		{"LoRA with the names of a model", 1, []string{"double_blocks.0.img_attn.qkv.lora_A.weight"}, LoRA, ""},
		{"LoHa", 1, []string{"lora_unet_x.hada_w1_a"}, LoRA, ""},
		{"LoKr", 1, []string{"lora_unet_x.lokr_w1"}, LoRA, ""},
		{"a video model", 1, []string{"model.diffusion_model.input_blocks.8.0.time_mixer.mix_factor"}, "", ""},
		{"something else", 1, []string{"a"}, "", ""},
		{"a CLIP of another width", 5, []string{"text_model.embeddings.token_embedding.weight"}, "", ""},
	} {
		p, err := Inspect(write(t, tt.width, tt.tensor...))
		if tt.role == "" {
			if !errors.Is(err, ErrOther) {
				t.Errorf("%s: recognised as %+v, error %v", tt.name, p, err)
			}
			continue
		}
		if err != nil || p.Role != tt.role || p.Family.Name != tt.family {
			t.Errorf("%s: recognised as %q of %q, error %v", tt.name, p.Role, p.Family.Name, err)
		}
	}
}

func TestInspectOtherFiles(t *testing.T) {
	for _, text := range []string{"", "GG", "GGUF", "PK\x03\x04 a zip file", "\x05\x00\x00\x00\x00\x00\x00\x00{abcd"} {
		path := filepath.Join(t.TempDir(), "f.safetensors")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if p, err := Inspect(path); err == nil || strings.Contains(err.Error(), path) {
			t.Errorf("%q was recognised as %+v, error %v", text, p, err)
		}
	}
	if _, err := Inspect(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing file was recognised")
	}
}

// TestMemory: 8-bit numbers are held as 16-bit ones.
func TestMemory(t *testing.T) {
	var out bytes.Buffer
	if err := safetensors.Write(&out, []safetensors.Data{
		{Name: "decoder.conv_in.weight", Type: "F8_E4M3", Shape: []int64{100}, Bytes: make([]byte, 100)},
		{Name: "x", Type: "F16", Shape: []int64{100}, Bytes: make([]byte, 200)},
	}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Inspect(path)
	if m := (Model{Parts: []Part{p, p}}); err != nil || p.Memory != p.Size+100 || m.Memory() != 2*p.Memory {
		t.Errorf("%+v, error %v", p, err)
	}
}

// TestAttention: FLUX comes in several widths, which the file tells.
func TestAttention(t *testing.T) {
	for _, tt := range []struct {
		name   string
		width  int64
		tensor []string
		want   Attention
	}{
		{"FLUX", 3072, []string{"double_blocks.0.img_attn.proj.weight"}, Attention{16, 24, 3072}},
		{"klein with its parts", 256, []string{"model.diffusion_model.double_blocks.0.img_attn.proj.weight", "model.diffusion_model.double_stream_modulation_img.lin.weight"}, Attention{16, 2, 256}},
		{"FLUX without that tensor", 1, []string{"double_blocks.0.x"}, Attention{16, 24, 3072}},
		{"too wide", 1 << 17, []string{"double_blocks.0.img_attn.proj.weight"}, Attention{16, 24, 3072}},
		{"SD", 3072, []string{"input_blocks.0.0.weight"}, Attention{8, 8, 320}},
	} {
		p, err := Inspect(write(t, tt.width, tt.tensor...))
		if err != nil || p.Family.Attention != tt.want {
			t.Errorf("%s: %+v, error %v; want %+v", tt.name, p.Family.Attention, err, tt.want)
		}
	}
}

func TestOpen(t *testing.T) {
	flux := func() string { return write(t, 1, "double_blocks.0.x") }
	whole := func() string {
		return write(t, 1, "model.diffusion_model.double_blocks.0.x", "text_encoders.t5xxl.x", "vae.x")
	}
	t5 := func() string { return write(t, 1, "encoder.block.0.layer.0.SelfAttention.q.weight") }
	lora := func() string { return write(t, 1, "double_blocks.0.img_attn.qkv.lora_A.weight") }
	many := []string{whole()}
	for range MaxLoRAs {
		many = append(many, lora())
	}
	vae := func() string { return write(t, 1, "decoder.conv_in.weight") }
	for _, tt := range []struct {
		name  string
		files []string
		want  string // of the error; empty: none
	}{
		{"all in one", []string{whole()}, ""},
		{"parts", []string{flux(), t5(), vae()}, ""},
		{"parts in another order", []string{flux(), vae(), t5()}, ""},
		{"another autoencoder", []string{whole(), vae()}, ""},
		{"as many LoRAs as can be", many, ""},
		{"too many LoRAs", append(slices.Clone(many), lora()), "17 LoRAs are more than 16"},
		{"only a LoRA", []string{lora()}, "not a diffusion model"},
		{"no text encoder", []string{flux(), vae()}, "no text encoder"},
		{"no autoencoder", []string{flux(), t5()}, "no autoencoder"},
		{"no diffusion model", []string{vae(), t5()}, "not a diffusion model"},
		{"two autoencoders", []string{whole(), vae(), vae()}, "the same role: autoencoder"},
		{"two diffusion models", []string{whole(), flux()}, "the same role"},
		{"nothing", nil, "not a diffusion model"},
		{"another file", []string{whole(), write(t, 1, "a")}, "no part of an image model"},
	} {
		m, err := Open(tt.files)
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
			}
			continue
		}
		if err != nil || m.Family.Name != "FLUX" || len(m.Parts) != len(tt.files) || m.Size() == 0 {
			t.Errorf("%s: %+v, error %v", tt.name, m, err)
		}
	}
}
