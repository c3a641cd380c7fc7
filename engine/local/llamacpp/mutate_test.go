//go:build llamacpp && cgo

package llamacpp

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/inspection/inspectiontest"
)

// mutateHeader changes one to three things of a file's head, and says which.
func mutateHeader(p *gguf.Draft, random *rand.Rand) string {
	m := &mutator{p, random, nil}
	for range 1 + random.IntN(2)*random.IntN(3) {
		m.once()
	}
	return strings.Join(m.done, "; ")
}

type mutator struct {
	*gguf.Draft
	random *rand.Rand
	done   []string
}

func (m *mutator) note(format string, args ...any) {
	m.done = append(m.done, fmt.Sprintf(format, args...))
}

// once makes one change. Numbers of the metadata are changed most.
func (m *mutator) once() {
	switch n := m.random.IntN(20); {
	case n < 9:
		m.value()
	case n < 11:
		m.shape()
	case n < 13:
		m.storage()
	case n < 14:
		m.rename()
	case n < 15:
		m.list()
	case n < 17:
		m.vocabulary()
	case n < 18:
		m.kind()
	case n < 19:
		m.architecture()
	default:
		m.remove()
	}
}

// pick chooses a key that a condition holds for; nil: there is none.
func (m *mutator) pick(fits func(gguf.Key) bool) *gguf.Key {
	var all []int
	for i, k := range m.Keys {
		if fits(k) {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &m.Keys[all[m.random.IntN(len(all))]]
}

func isNumber(k gguf.Key) bool { return k.Type != gguf.String && k.Type != gguf.ArrayOf }

// value changes that of a key.
func (m *mutator) value() {
	k := m.pick(func(k gguf.Key) bool { return isNumber(k) || k.Type == gguf.String && m.random.IntN(4) == 0 })
	switch {
	case k == nil:
	case k.Type == gguf.String:
		k.Text = m.text(k.Text)
		m.note("%s is now %.60q", k.Name, k.Text)
	default:
		k.Bits = m.bits(k.Type, k.Bits)
		m.note("%s is now %#x (%s)", k.Name, k.Bits, k.Type)
	}
}

// bits are those of another number of a type.
func (m *mutator) bits(t gguf.ValueType, old uint64) uint64 {
	if t == gguf.Float32 {
		was := float64(math.Float32frombits(uint32(old)))
		numbers := []float64{0, -1, 1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-45, 1e-20, 1e38, -1e38, 1e6, -was, was * 2, was / 2, was * (m.random.Float64()*4 - 1)}
		return uint64(math.Float32bits(float32(numbers[m.random.IntN(len(numbers))])))
	}
	numbers := []uint64{
		0, 1, 2, 3, 4, 7, 8, 31, 32, 63, 100, 255, 256, 512, 513, 1 << 16, 1<<16 + 2, 1<<31 - 1, 1 << 31, 1<<32 - 1, math.MaxUint64,
		old + 1, old - 1, old * 2, old / 2, old * 3, old + 2, old ^ 1<<m.random.IntN(32), m.random.Uint64N(64), m.random.Uint64N(1 << 12), m.random.Uint64(),
	}
	n := numbers[m.random.IntN(len(numbers))]
	if w := t.Width(); w < 8 {
		n &= 1<<(8*w) - 1
	}
	return n
}

// mutantTexts are texts that files have for some purpose.
var mutantTexts = []string{
	"", "none", "linear", "yarn", "longrope", "llama", "gpt2", "bert", "t5", "rwkv", "plamo2", "no_vocab", "default", "llama-bpe", "qwen2", "gpt-4o", "tekken", "glm4",
	"deepseek-v3", "smollm", "chatglm-bpe", "afmoe", "kimi-k2", "Phi-3 mini", "nothing", "lora", "adapter", "mmproj", "clip",
}

func (m *mutator) text(old string) string {
	switch m.random.IntN(6) {
	case 0:
		return old + "\x00x"
	case 1:
		return strings.Repeat("x", m.random.IntN(1<<12))
	case 2:
		return "\xff\xfe" + old
	}
	return mutantTexts[m.random.IntN(len(mutantTexts))]
}

// tensor chooses one.
func (m *mutator) tensor() *gguf.Weight {
	if len(m.Tensors) == 0 {
		return &gguf.Weight{Dims: []uint64{1}}
	}
	return &m.Tensors[m.random.IntN(len(m.Tensors))]
}

func (m *mutator) shape() {
	t := m.tensor()
	t.Dims = slices.Clone(t.Dims)
	if len(t.Dims) == 0 {
		t.Dims = []uint64{1}
	}
	i := m.random.IntN(len(t.Dims))
	switch m.random.IntN(6) {
	case 0:
		slices.Reverse(t.Dims)
	case 1:
		t.Dims = append(t.Dims, 1+m.random.Uint64N(3))
	case 2:
		t.Dims = t.Dims[:len(t.Dims)-1]
	case 3:
		t.Dims[i] = []uint64{0, 1, 1 << 20, 1 << 40, math.MaxInt64, math.MaxUint64}[m.random.IntN(6)]
	case 4:
		t.Dims[i] = t.Dims[i]*2 - uint64(m.random.IntN(2))
	default:
		t.Dims[i] += uint64(m.random.IntN(3)) - 1
	}
	m.note("the tensor %s has the dimensions %v", t.Name, t.Dims)
}

// storage changes how or where a tensor is stored.
func (m *mutator) storage() {
	t := m.tensor()
	if m.random.IntN(6) == 0 {
		t.Shift = []uint64{1, 32, math.MaxUint64 - 31, 1 << 40}[m.random.IntN(4)]
		m.note("the tensor %s is %d bytes from its place", t.Name, t.Shift)
		return
	}
	t.Type = gguf.Type(m.random.IntN(41))
	m.note("the tensor %s is stored as %s", t.Name, t.Type)
}

// rename gives a key or a tensor the name of another, or none that is known.
func (m *mutator) rename() {
	if m.random.IntN(3) == 0 {
		if k := m.pick(func(gguf.Key) bool { return true }); k != nil {
			old := k.Name
			k.Name = []string{old + "\x00", "", old + "x", m.Keys[m.random.IntN(len(m.Keys))].Name, strings.Repeat("k", 200)}[m.random.IntN(5)]
			m.note("the key %s is called %.60q", old, k.Name)
		}
		return
	}
	t := m.tensor()
	old := t.Name
	t.Name = []string{
		old + "\x00", "", old + "x", m.tensor().Name, strings.Repeat("t", 64), strings.Replace(old, "blk.0", "blk.1", 1), strings.Replace(old, ".weight", ".bias", 1),
	}[m.random.IntN(7)]
	m.note("the tensor %s is called %q", old, t.Name)
}

// list adds, copies, swaps or drops tensors.
func (m *mutator) list() {
	if len(m.Tensors) == 0 {
		return
	}
	a, b := m.random.IntN(len(m.Tensors)), m.random.IntN(len(m.Tensors))
	switch m.random.IntN(4) {
	case 0:
		m.note("the tensor %s is gone", m.Tensors[a].Name)
		m.Tensors = slices.Delete(m.Tensors, a, a+1)
	case 1:
		m.note("the tensor %s is there twice", m.Tensors[a].Name)
		m.Tensors = append(m.Tensors, m.Tensors[a])
	case 2:
		m.note("the tensors %s and %s swap names", m.Tensors[a].Name, m.Tensors[b].Name)
		m.Tensors[a].Name, m.Tensors[b].Name = m.Tensors[b].Name, m.Tensors[a].Name
	default:
		m.note("the tensors from %s on are gone", m.Tensors[a].Name)
		m.Tensors = m.Tensors[:a]
	}
}

// vocabulary changes an array.
func (m *mutator) vocabulary() {
	k := m.pick(func(k gguf.Key) bool { return k.Type == gguf.ArrayOf })
	if k == nil {
		return
	}
	if k.Array.Type == gguf.String {
		m.texts(k)
		return
	}
	k.Array.Bits = slices.Clone(k.Array.Bits)
	n := len(k.Array.Bits)
	if n == 0 || m.random.IntN(3) == 0 {
		size := []int{0, 1, n / 2, max(n-1, 0), n + 1, n * 2}[m.random.IntN(6)]
		k.Array.Bits = append(k.Array.Bits, make([]uint64, max(size-n, 0))...)[:size]
		m.note("%s has %d values", k.Name, size)
		return
	}
	i := m.random.IntN(n)
	k.Array.Bits[i] = m.bits(k.Array.Type, k.Array.Bits[i])
	if m.random.IntN(2) == 0 {
		k.Array.Bits[i] = m.random.Uint64N(8)
	}
	m.note("%s has %#x at %d", k.Name, k.Array.Bits[i], i)
}

func (m *mutator) texts(k *gguf.Key) {
	k.Array.Texts = slices.Clone(k.Array.Texts)
	n := len(k.Array.Texts)
	if n == 0 {
		return
	}
	i := m.random.IntN(n)
	switch m.random.IntN(7) {
	case 0:
		k.Array.Texts = k.Array.Texts[:[]int{0, 1, 5, 12, n - 1, n / 2}[m.random.IntN(6)]%(n+1)]
	case 1:
		k.Array.Texts[i] = k.Array.Texts[m.random.IntN(n)]
	case 2:
		k.Array.Texts[i] = []string{"", "\x00", "[EMPTY_3]", "\xff\xfe", " ", "a b", "<0xZZ>", "<0x-1>", "<0", "é€", "\\x", "\\"}[m.random.IntN(12)]
	case 3:
		k.Array.Texts[i] = strings.Repeat([]string{"x", "漢", "\x00", "\\x00", " "}[m.random.IntN(5)], []int{10, 1000, 5000, 100000}[m.random.IntN(4)])
	case 4:
		for j := range k.Array.Texts {
			if j%7 == 3 {
				k.Array.Texts[j] += "x"
			}
		}
	case 5:
		k.Array.Texts = append(k.Array.Texts, "another", "one")
	default:
		k.Array.Texts = slices.DeleteFunc(k.Array.Texts, func(s string) bool { return len(s) == 6 && strings.HasPrefix(s, "<0x") && s[4] == '1' })
	}
	m.note("%s has %d texts, and %.20q at %d", k.Name, len(k.Array.Texts), append(k.Array.Texts, make([]string, n)...)[i], i)
}

// kind stores a value as another type.
func (m *mutator) kind() {
	k := m.pick(func(gguf.Key) bool { return true })
	if k == nil {
		return
	}
	types := []gguf.ValueType{gguf.Uint8, gguf.Uint16, gguf.Int32, gguf.Uint32, gguf.Float32, gguf.Bool, gguf.String, gguf.Uint64, gguf.Int64, gguf.Float64, gguf.ArrayOf}
	t := types[m.random.IntN(len(types))]
	switch {
	case k.Type == gguf.ArrayOf && t != gguf.ArrayOf:
		k.Array.Type = t
		if t == gguf.String {
			k.Array.Texts = make([]string, len(k.Array.Bits))
		} else if k.Array.Bits == nil {
			k.Array.Bits = make([]uint64, len(k.Array.Texts))
		}
	case k.Type == gguf.ArrayOf:
		k.Type = gguf.Uint32
	case t == gguf.ArrayOf:
		k.Array = gguf.Values{Type: gguf.Uint32, Bits: slices.Repeat([]uint64{k.Bits}, m.random.IntN(6))}
		k.Type = t
	default:
		k.Type = t
	}
	m.note("%s is stored as %s of %s", k.Name, k.Type, k.Array.Type)
}

// architecture gives the model another, its keys too.
func (m *mutator) architecture() {
	k := m.pick(func(k gguf.Key) bool { return k.Name == "general.architecture" })
	if k == nil {
		return
	}
	names := []string{
		"llama", "qwen2", "qwen3", "gemma", "gemma2", "gemma3", "phi3", "bert", "gpt2", "mamba", "rwkv7", "lfm2", "deepseek2", "t5", "clip", "dream", "solar", "cogvlm",
		"grovemoe", "arwkv7", "rwkv6qwen2", "wavtokenizer-dec", "starcoder2", "olmo", "command-r", "smollm3", "mistral3", "granite", "baichuan", "stablelm", "nothing",
	}
	old := k.Text
	k.Text = names[m.random.IntN(len(names))]
	m.note("the architecture is %s", k.Text)
	if m.random.IntN(4) == 0 {
		return
	}
	for i := range m.Keys {
		if rest, ok := strings.CutPrefix(m.Keys[i].Name, old+"."); ok {
			m.Keys[i].Name = k.Text + "." + rest
		}
	}
}

func (m *mutator) remove() {
	if len(m.Keys) == 0 {
		return
	}
	i := m.random.IntN(len(m.Keys))
	m.note("%s is gone", m.Keys[i].Name)
	m.Keys = slices.Delete(m.Keys, i, i+1)
}

// resize gives a recipe other sizes, and says which: its tensors follow them.
func resize(r inspectiontest.Recipe, random *rand.Rand) (inspectiontest.Recipe, string) {
	prefix, names := r.Architecture+".", []string{
		"embedding_length", "block_count", "feed_forward_length", "attention.head_count", "attention.head_count_kv", "attention.key_length", "attention.value_length",
		"rope.dimension_count", "context_length", "expert_count", "expert_used_count", "expert_feed_forward_length", "expert_shared_feed_forward_length",
		"expert_shared_count", "leading_dense_block_count", "attention.q_lora_rank", "attention.kv_lora_rank", "attention.key_length_mla", "attention.value_length_mla",
		"ssm.conv_kernel", "ssm.inner_size", "ssm.state_size", "ssm.time_step_rank", "ssm.group_count", "shortconv.l_cache", "wkv.head_size",
		"attention.sliding_window", "interleave_moe_layer_step", "moe_every_n_layers", "nextn_predict_layers", "expert_group_count", "expert_group_used_count",
	}
	sizes := []uint32{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 20, 24, 31, 32, 33, 48, 64, 96, 128, 130, 256}
	if r.Projector != "" {
		sizes = sizes[:18] // work grows with the fourth power of a picture's
		prefix, names = "clip.vision.", []string{
			"embedding_length", "block_count", "feed_forward_length", "attention.head_count", "image_size", "patch_size", "projector.scale_factor", "spatial_merge_size",
			"preproc_image_size", "n_wa_pattern",
		}
	}
	meta := maps.Clone(r.Meta)
	if meta == nil {
		meta = map[string]any{}
	}
	var done []string
	for range 1 + random.IntN(4) {
		name := prefix + names[random.IntN(len(names))]
		if random.IntN(2) == 0 {
			name = prefix + names[random.IntN(9)]
		}
		size := sizes[random.IntN(len(sizes))]
		if strings.HasSuffix(name, ".block_count") {
			size = min(size, 33) // many take long, and say no more
		}
		meta[name] = size
		done = append(done, fmt.Sprintf("made with %s of %d", name, size))
	}
	r.Meta = meta
	return r, strings.Join(done, ", ")
}
