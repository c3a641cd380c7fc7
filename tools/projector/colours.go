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
	imageSide = 28 // pixels; llama.cpp scales every picture to it
	patchSide = 14
	patches   = (imageSide / patchSide) * (imageSide / patchSide)

	width  = 32 // of the vision part: the first three numbers are red, green and blue
	hidden = 32 // of the projector: the first eight are the colours
)

// palette are the corners of the cube of colours: -1 is none, 1 all of red,
// green and blue. A model without the first word takes the second.
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

// colours makes the projector for a text model.
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
	half := []float32{0.5, 0.5, 0.5} // makes -1 to 1 of 0 to 1
	f.Set("clip.vision.image_mean", half)
	f.Set("clip.vision.image_std", half)
	eye(f)
	return f, decide(f, text)
}

// add adds a tensor; the first dimension is that of neighbours.
func add(f *gguf.Draft, name string, numbers []float32, dimensions ...int) {
	t := gguf.Weight{Name: name}
	for _, d := range dimensions {
		t.Dims = append(t.Dims, uint64(d))
	}
	var data bytes.Buffer
	_ = binary.Write(&data, binary.LittleEndian, numbers) // a buffer takes everything
	t.Data = data.Bytes()
	f.Tensors = append(f.Tensors, t)
}

// eye writes the vision part: each patch becomes its average colour, and a
// layer of zeros, which adds nothing, passes it on.
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

// decide writes the projector: a hidden unit for each colour, which is above
// zero for colours near its corner and far below for all others, and then the
// model's own numbers for the word.
func decide(f *gguf.Draft, text *textModel) error {
	// A colour at its own corner has the product 3 with it, one at the next
	// corner 1. The border is a little nearer to the latter, since llama.cpp
	// puts gray around pictures that are not square.
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

// embedding is what the model reads for the first of the words that it has as
// one token, as it stands in the middle of a text.
func (t *textModel) embedding(words []string) ([]float32, error) {
	for _, word := range words {
		for _, space := range []string{"Ġ", "▁", " ", ""} { // how vocabularies write one
			id, ok := t.tokens[space+word]
			if !ok {
				continue
			}
			row, err := t.row(id)
			if err != nil {
				return nil, err
			}
			if strings.HasPrefix(t.architecture, "gemma") { // which scales what it reads
				for i := range row {
					row[i] *= float32(math.Sqrt(float64(t.width)))
				}
			}
			return row, nil
		}
	}
	return nil, fmt.Errorf("the vocabulary has none of the words %q", words)
}
