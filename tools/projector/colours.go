package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
)

const (
	imageSide = 28 // pixels; llama.cpp scales every image to this
	patchSide = 14
	patches   = (imageSide / patchSide) * (imageSide / patchSide)

	width  = 32 // of the vision encoder: the first three values are red, green and blue
	hidden = 32 // of the projector: the first eight units are the colours
)

// palette has the corners of the RGB cube, from -1 to 1. A model without a token for
// the first word uses the second.
var palette = []struct {
	words []string
	rgb   [3]float32
}{
	{[]string{"black"}, [3]float32{-1, -1, -1}},
	{[]string{"red"}, [3]float32{1, -1, -1}},
	{[]string{"green"}, [3]float32{-1, 1, -1}},
	{[]string{"blue"}, [3]float32{-1, -1, 1}},
	{[]string{"yellow"}, [3]float32{1, 1, -1}},
	{[]string{"magenta", "purple"}, [3]float32{1, -1, 1}},
	{[]string{"cyan", "turquoise"}, [3]float32{-1, 1, 1}},
	{[]string{"white"}, [3]float32{1, 1, 1}},
}

// colours returns the projector for a text model.
func colours(text *textModel) (*gguf.Draft, error) {
	f := &gguf.Draft{}
	f.Set("general.architecture", "clip")
	f.Set("general.name", "colours for "+text.name)
	f.Set("clip.has_vision_encoder", true)
	f.Set("clip.projector_type", "mlp")
	f.Set("clip.use_gelu", true)
	f.Set("clip.vision.image_size", uint32(imageSide))
	f.Set("clip.vision.patch_size", uint32(patchSide))
	f.Set("clip.vision.embedding_length", uint32(width))
	f.Set("clip.vision.feed_forward_length", uint32(width))
	f.Set("clip.vision.block_count", uint32(1))
	f.Set("clip.vision.attention.head_count", uint32(1))
	f.Set("clip.vision.projection_dim", uint32(text.width))
	f.Set("clip.vision.attention.layer_norm_epsilon", float32(1e-6))
	half := []float32{0.5, 0.5, 0.5} // scales 0..1 to -1..1
	f.Set("clip.vision.image_mean", half)
	f.Set("clip.vision.image_std", half)
	eye(f)
	return f, decide(f, text)
}

// add adds a tensor; the first dimension is contiguous.
func add(f *gguf.Draft, name string, numbers []float32, dimensions ...int) {
	t := gguf.Weight{Name: name}
	for _, d := range dimensions {
		t.Dims = append(t.Dims, uint64(d))
	}
	var data bytes.Buffer
	_ = binary.Write(&data, binary.LittleEndian, numbers) // a buffer never fails
	t.Data = data.Bytes()
	f.Tensors = append(f.Tensors, t)
}

// eye writes the vision encoder: each patch becomes its average colour, and a
// transformer layer of zeros passes it on.
func eye(f *gguf.Draft) {
	const area = patchSide * patchSide
	patch := make([]float32, width*3*area)
	for channel := range 3 {
		for i := range area {
			patch[(channel*3+channel)*area+i] = 1.0 / area
		}
	}
	add(f, "v.patch_embd.weight", patch, patchSide, patchSide, 3, width)
	add(f, "v.position_embd.weight", make([]float32, width*patches), width, patches)
	const layer = "v.blk.0."
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_out", "ffn_up", "ffn_down"} {
		add(f, layer+name+".weight", make([]float32, width*width), width, width)
		add(f, layer+name+".bias", make([]float32, width), width)
	}
	for _, name := range []string{"ln1", "ln2"} {
		add(f, layer+name+".weight", make([]float32, width), width)
		add(f, layer+name+".bias", make([]float32, width), width)
	}
}

// decide writes the projector: one hidden unit per colour, positive only near its
// corner of the cube, and then the token embedding of its word.
func decide(f *gguf.Draft, text *textModel) error {
	// The dot product with a corner is 3 for the corner itself and 1 for the next
	// one. The threshold is nearer to 1, because llama.cpp pads images that are not
	// square with gray.
	const steep, threshold = 10, 15
	pick, bias := make([]float32, hidden*width), make([]float32, hidden)
	say := make([]float32, text.width*hidden)
	for i := range bias {
		bias[i] = -threshold
	}
	for unit, colour := range palette {
		for channel, sign := range colour.rgb {
			pick[unit*width+channel] = steep * sign
		}
		word, err := text.embedding(colour.words)
		if err != nil {
			return err
		}
		for i, n := range word {
			say[i*hidden+unit] = n / (3*steep - threshold)
		}
	}
	add(f, "mm.0.weight", pick, width, hidden)
	add(f, "mm.0.bias", bias, hidden)
	add(f, "mm.2.weight", say, hidden, text.width)
	add(f, "mm.2.bias", make([]float32, text.width), text.width)
	return nil
}

// embedding returns the token embedding of the first word that is a single token in
// the middle of a text.
func (t *textModel) embedding(words []string) ([]float32, error) {
	for _, word := range words {
		for _, space := range []string{"Ġ", "▁", " ", ""} { // spellings in vocabularies
			id, ok := t.tokens[space+word]
			if !ok {
				continue
			}
			row, err := t.row(id)
			if err != nil {
				return nil, err
			}
			if strings.HasPrefix(t.architecture, "gemma") { // which scales embeddings
				for i := range row {
					row[i] *= float32(math.Sqrt(float64(t.width)))
				}
			}
			return row, nil
		}
	}
	return nil, fmt.Errorf("none of the words %q is a token", words)
}
