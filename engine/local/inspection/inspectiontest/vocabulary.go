package inspectiontest

import (
	"fmt"
	"strings"
)

// types of tokens.
const (
	normal      int32 = 1
	unknown     int32 = 2
	control     int32 = 3
	userDefined int32 = 4
	byteToken   int32 = 6
)

// vocabulary is tokens in the making.
type vocabulary struct {
	tokens []string
	types  []int32
	scores []float32
}

func (v *vocabulary) add(kind int32, tokens ...string) {
	for _, token := range tokens {
		v.tokens = append(v.tokens, token)
		v.types = append(v.types, kind)
		v.scores = append(v.scores, -float32(len(v.tokens)))
	}
}

// Vocabulary gives the keys of a small one: all bytes or letters, some words,
// and tokens for the turns of a chat.
func Vocabulary(kind string) map[string]any {
	v := &vocabulary{}
	meta := map[string]any{"tokenizer.ggml.model": kind}
	switch kind {
	case "gpt2":
		v.add(control, "<|endoftext|>", "<|im_start|>", "<|im_end|>")
		for b := range 256 {
			v.add(normal, string(spelled(byte(b))))
		}
		v.add(normal, "th", "the", "Ġ"+"the", "he", "in")
		meta["tokenizer.ggml.merges"] = []string{"t h", "th e", "h e", "i n"}
		meta["tokenizer.ggml.pre"] = "gpt-2"
		meta["tokenizer.ggml.bos_token_id"], meta["tokenizer.ggml.eos_token_id"] = uint32(0), uint32(2)
	case "llama", "plamo2", "t5":
		v.add(unknown, "<unk>")
		v.add(control, "<s>", "</s>", "<pad>", "<|im_start|>", "<|im_end|>")
		for b := range 256 {
			v.add(byteToken, fmt.Sprintf("<0x%02X>", b))
		}
		v.add(normal, "▁", "▁the", "▁a", "the", "he", "in")
		for _, r := range "abcdefghijklmnopqrstuvwxyz.,!?" {
			v.add(normal, string(r))
		}
		v.add(userDefined, "▁▁▁", "\n\n")
		v.add(userDefined, "<image>", "</image>", "<slice>", "</slice>", "<|image|>", "<|tile_x_separator|>", "<|tile_y_separator|>", "<fake_token_around_image>", "<global-img>")
		meta["tokenizer.ggml.unknown_token_id"] = uint32(0)
		meta["tokenizer.ggml.bos_token_id"], meta["tokenizer.ggml.eos_token_id"] = uint32(1), uint32(2)
	case "bert":
		v.add(control, "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
		for _, r := range "abcdefghijklmnopqrstuvwxyz.,!?" {
			v.add(normal, string(r), "▁"+string(r))
		}
		v.add(normal, "▁the", "▁in", "he")
		for i, use := range []string{"padding", "unknown", "bos", "seperator", "mask"} {
			meta["tokenizer.ggml."+use+"_token_id"] = uint32(i)
		}
		meta["tokenizer.ggml.token_type_count"] = uint32(2)
	case "rwkv":
		v.add(control, "<s>")
		for b := range 256 {
			v.add(normal, escaped(byte(b)))
		}
		v.add(normal, "the", " the", "in")
		meta["tokenizer.ggml.eos_token_id"] = uint32(0)
	}
	meta["tokenizer.ggml.tokens"], meta["tokenizer.ggml.token_type"], meta["tokenizer.ggml.scores"] = v.tokens, v.types, v.scores
	return meta
}

// spelled is the letter that stands for a byte in vocabularies of the kind gpt2.
func spelled(b byte) rune {
	if b > ' ' && b < 0x7f || b >= 0xa1 && b != 0xad {
		return rune(b)
	}
	n := rune(0x100)
	for other := range b {
		if !(other > ' ' && other < 0x7f || other >= 0xa1 && other != 0xad) {
			n++
		}
	}
	return n
}

// escaped is a byte in a vocabulary of the kind rwkv.
func escaped(b byte) string {
	if b > ' ' && b < 0x7f && !strings.ContainsRune(`\'"`, rune(b)) {
		return string(rune(b))
	}
	return fmt.Sprintf(`\x%02x`, b)
}
