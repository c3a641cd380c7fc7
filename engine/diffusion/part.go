package diffusion

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/safetensors"
)

// Role is what a file is for.
type Role string

// The roles of files.
const (
	Whole     Role = "model"           // a diffusion model, with text encoders and an autoencoder or without
	Diffusion Role = "diffusion model" // alone
	ClipL     Role = "text encoder CLIP-L"
	ClipG     Role = "text encoder CLIP-G"
	T5        Role = "text encoder T5"
	LLM       Role = "text encoder of a language model"
	VAE       Role = "autoencoder"
	TAE       Role = "tiny autoencoder"
	LoRA      Role = "LoRA" // a change to the others; a model can have several
)

// Part is a file of an image model.
type Part struct {
	Path   string
	Role   Role
	Family Family // of Whole and Diffusion
	Size   int64  // in bytes
	Memory int64  // that it takes when it is loaded, in bytes
	Format string // "safetensors" or "gguf"

	encodes, decodes, hasT5 bool // a Whole with text encoders, with an autoencoder, with T5
}

// Draws reports whether the file has a diffusion model.
func (p Part) Draws() bool { return p.Role == Whole || p.Role == Diffusion }

// ErrOther is the error for a file that is no part of an image model.
var ErrOther = errors.New("the file is no part of an image model that is known")

// Inspect reads the header of a file. Errors do not contain the path. For a file of
// another kind the error is [ErrOther].
func Inspect(path string) (Part, error) {
	h, err := open(path)
	if err != nil {
		return Part{}, err
	}
	p, err := h.recognise()
	p.Path, p.Size, p.Memory, p.Format = path, h.size, h.size+h.widened, h.format
	return p, err
}

// header is what both formats have.
type header struct {
	format  string
	size    int64
	widened int64 // bytes that loading adds
	names   map[string]bool
	columns map[string]int64 // length of the last dimension in memory, by name
}

func open(path string) (header, error) {
	start, err := readStart(path)
	switch {
	case err != nil:
		return header{}, err
	case safetensors.Detect(start):
		return openSafetensors(path)
	case len(start) >= len(gguf.Magic) && string(start[:len(gguf.Magic)]) == gguf.Magic:
		return openGGUF(path)
	}
	return header{}, errors.New("the file is neither safetensors nor GGUF")
}

func readStart(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		var failed *os.PathError
		if errors.As(err, &failed) {
			return nil, failed.Err
		}
		return nil, err
	}
	defer file.Close()
	start := make([]byte, 16)
	n, err := io.ReadFull(file, start)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return start[:n], nil
}

func openSafetensors(path string) (header, error) {
	file, err := safetensors.Open(path)
	if err != nil {
		return header{}, err
	}
	h := header{format: "safetensors", size: file.Size, names: map[string]bool{}, columns: map[string]int64{}}
	for _, t := range file.Tensors {
		h.names[t.Name] = true
		if strings.HasPrefix(t.Type, "F8") { // it is computed with as 16-bit numbers
			h.widened += t.Size
		}
		if n := len(t.Shape); n > 0 {
			h.columns[t.Name] = t.Shape[n-1]
		}
	}
	return h, nil
}

func openGGUF(path string) (header, error) {
	file, err := gguf.Open(path)
	if err != nil {
		return header{}, err
	}
	h := header{format: "gguf", size: file.Size, names: map[string]bool{}, columns: map[string]int64{}}
	for _, t := range file.Tensors {
		h.names[t.Name] = true
		h.columns[t.Name] = t.Dim(0)
	}
	return h, nil
}

// signs are tensors that only one role has.
var signs = []struct {
	role    Role
	tensors []string
}{
	{VAE, []string{"decoder.conv_in.weight", "first_stage_model.decoder.conv_in.weight", "decoder.conv1.weight"}},
	{TAE, []string{"decoder.layers.0.weight", "decoder.1.weight", "taesd_decoder.layers.0.weight"}},
	{T5, []string{"encoder.block.0.layer.0.SelfAttention.q.weight", "enc.blk.0.attn_q.weight"}},
	{LLM, []string{"model.layers.0.self_attn.q_proj.weight", "blk.0.attn_q.weight"}},
}

// Tensors of CLIP, and the widths that tell the two encoders apart.
const (
	clipTensor = "text_model.embeddings.token_embedding.weight"
	widthClipL = 768
	widthClipG = 1280
)

// loraSuffixes end the names of tensors that only LoRAs have, one for each kind.
var loraSuffixes = []string{
	".lora_down.weight", ".lora.down.weight", "_lora.down.weight", ".lora_A.weight", ".lora_A.default.weight", ".hada_w1_a", ".lokr_w1", ".lokr_w1_a",
}

// changes reports whether the file is a LoRA. The rest of its names is that of the
// tensors that it changes.
func (h header) changes() bool {
	for name := range h.names {
		for _, suffix := range loraSuffixes {
			if strings.HasSuffix(name, suffix) {
				return true
			}
		}
	}
	return false
}

func (h header) recognise() (Part, error) {
	if h.changes() {
		return Part{Role: LoRA}, nil
	}
	if f, ok := family(h.names, wholePrefix); ok {
		f.Attention = h.attention(f, wholePrefix)
		return Part{Role: Whole, Family: f, encodes: h.encodes(), decodes: h.decodes(), hasT5: h.begins("text_encoders.t5xxl.")}, nil
	}
	if f, ok := family(h.names, ""); ok {
		f.Attention = h.attention(f, "")
		return Part{Role: Diffusion, Family: f}, nil
	}
	switch h.columns[clipTensor] {
	case widthClipL:
		return Part{Role: ClipL}, nil
	case widthClipG:
		return Part{Role: ClipG}, nil
	}
	for _, s := range signs {
		for _, name := range s.tensors {
			if h.names[name] {
				return Part{Role: s.role}, nil
			}
		}
	}
	return Part{}, ErrOther
}

func (h header) encodes() bool {
	return h.begins("cond_stage_model.", "conditioner.", "text_encoders.")
}
func (h header) decodes() bool { return h.begins("first_stage_model.", "vae.", "tae.") }

// begins reports whether a name begins with one of the prefixes.
func (h header) begins(prefixes ...string) bool {
	for name := range h.names {
		for _, p := range prefixes {
			if len(name) > len(p) && name[:len(p)] == p {
				return true
			}
		}
	}
	return false
}

// Model is an image model: its files by their roles.
type Model struct {
	Family Family
	Parts  []Part // the diffusion model first
}

// Open recognises the files of a model. The errors name the file.
func Open(paths []string) (Model, error) {
	var m Model
	for i, path := range paths {
		p, err := Inspect(path)
		if err != nil {
			return m, fmt.Errorf("%s: %w", path, err)
		}
		if i == 0 {
			m.Family = p.Family
		}
		m.Parts = append(m.Parts, p)
	}
	return m, m.Check()
}

// Check fails unless the parts make a model.
func (m Model) Check() error {
	if len(m.Parts) == 0 || !m.Parts[0].Draws() {
		return errors.New("the first file is not a diffusion model")
	}
	seen := map[Role]bool{}
	for _, p := range m.Parts {
		if p.Role == LoRA {
			continue
		}
		if seen[p.Role] || p.Draws() && len(seen) > 0 {
			return fmt.Errorf("two files have the same role: %s", p.Role)
		}
		seen[p.Role] = true
	}
	if n := len(m.LoRAs()); n > MaxLoRAs {
		return fmt.Errorf("%d LoRAs are more than %d", n, MaxLoRAs)
	}
	first := m.Parts[0]
	if !first.encodes && !seen[ClipL] && !seen[ClipG] && !seen[T5] && !seen[LLM] {
		return errors.New("the model has no text encoder; add its file")
	}
	if !first.decodes && !seen[VAE] && !seen[TAE] {
		return errors.New("the model has no autoencoder (VAE); add its file")
	}
	return nil
}

// Path is the file with a role; empty: none.
func (m Model) Path(r Role) string {
	for _, p := range m.Parts {
		if p.Role == r {
			return p.Path
		}
	}
	return ""
}

// MaxLoRAs is how many LoRAs a model can have.
const MaxLoRAs = 16

// LoRAs are the paths of the LoRAs, in the order of the parts.
func (m Model) LoRAs() []string {
	var paths []string
	for _, p := range m.Parts {
		if p.Role == LoRA {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

// Size is that of all files, in bytes.
func (m Model) Size() int64 {
	var size int64
	for _, p := range m.Parts {
		size += p.Size
	}
	return size
}

// Memory is what all files take when they are loaded, in bytes.
func (m Model) Memory() int64 {
	var size int64
	for _, p := range m.Parts {
		size += p.Memory
	}
	return size
}
