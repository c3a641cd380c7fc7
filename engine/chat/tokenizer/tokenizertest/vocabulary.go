// Package tokenizertest makes vocabularies for tests, and texts to try them
// with.
package tokenizertest

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/diglot/diglot/engine/chat/tokenizer"
)

// Token is a token that a vocabulary has beside its ordinary ones.
type Token struct {
	Text string
	Kind tokenizer.Kind
}

// Control are control tokens of these spellings.
func Control(spellings ...string) []Token {
	var tokens []Token
	for _, s := range spellings {
		tokens = append(tokens, Token{s, tokenizer.Control})
	}
	return tokens
}

// BPE is a vocabulary for byte pair encoding in which every two ASCII characters
// join, and some other bytes, in an order of no sense, and some of these pairs
// too: where a text is cut into words shows in its tokens.
func BPE(pre string, more ...Token) *tokenizer.Vocabulary {
	v := &tokenizer.Vocabulary{Model: "gpt2", Pre: pre, Unknown: -1}
	add(v, more)
	bytes := alphabet()
	for _, b := range bytes {
		token(v, b, tokenizer.Normal, 0)
	}
	random := rand.New(rand.NewPCG(3, 4))
	first := len(v.Texts)
	for _, n := range random.Perm(1 << 16) {
		if l, r := n>>8, n&0xff; l|r < 0x80 || l >= 0x80 && r >= 0x80 && n%3 == 0 || n%17 == 0 {
			v.Merges = append(v.Merges, bytes[l]+" "+bytes[r])
			token(v, bytes[l]+bytes[r], tokenizer.Normal, 0)
		}
	}
	pairs := v.Texts[first:]
	made := map[string]bool{}
	for range 6000 {
		left, right := pairs[random.IntN(len(pairs))], pairs[random.IntN(len(pairs))]
		if !made[left+right] {
			made[left+right] = true
			v.Merges = append(v.Merges, left+" "+right)
			token(v, left+right, tokenizer.Normal, 0)
		}
	}
	return v
}

// alphabet is how byte pair encoding writes each byte.
func alphabet() [256]string {
	var bytes [256]string
	next := rune(256)
	for i := range bytes {
		r := rune(i)
		if r < '!' || r > '~' && r < 0xa1 || r == 0xad {
			r = next
			next++
		}
		bytes[i] = string(r)
	}
	return bytes
}

// Speller returns what tells the text of a token: of ordinary ones what they
// stand for, of others how they are written.
func Speller(v *tokenizer.Vocabulary) func(token int32) string {
	bytes := map[string]byte{}
	for i, b := range alphabet() {
		bytes[b] = byte(i)
	}
	return func(token int32) string {
		text := v.Texts[token]
		switch kind := v.Kinds[token]; {
		case kind == tokenizer.Byte:
			b, _ := strconv.ParseUint(text[1:len(text)-1], 0, 8)
			return string([]byte{byte(b)})
		case kind != tokenizer.Normal:
			return text
		case v.Model != "gpt2":
			return strings.ReplaceAll(text, "▁", " ")
		}
		var spelled []byte
		for _, r := range text {
			spelled = append(spelled, bytes[string(r)])
		}
		return string(spelled)
	}
}

// SPM is a vocabulary of the SentencePiece kind, with tokens of one to four of
// the characters that texts here are mostly made of.
func SPM(addSpace bool, more ...Token) *tokenizer.Vocabulary {
	v := &tokenizer.Vocabulary{Model: "llama", AddSpace: addSpace}
	token(v, "<unk>", tokenizer.Unknown, 0)
	token(v, "<s>", tokenizer.Control, 0)
	token(v, "</s>", tokenizer.Control, 0)
	add(v, more)
	for i := range 256 {
		const digits = "0123456789ABCDEF"
		token(v, "<0x"+digits[i>>4:i>>4+1]+digits[i&15:i&15+1]+">", tokenizer.Byte, 0)
	}
	random := rand.New(rand.NewPCG(5, 6))
	letters := []rune("▁▁▁abcdefghijklmnoprstuw<|>/_[]#\n.,éßΩ一二")
	known := map[string]bool{}
	for range 6000 {
		var text []rune
		for range 1 + random.IntN(4) {
			text = append(text, letters[random.IntN(len(letters))])
		}
		if s := string(text); !known[s] {
			known[s] = true
			token(v, s, tokenizer.Normal, -float64(random.IntN(3000)))
		}
	}
	return v
}

// WordPiece is a vocabulary of that kind, with the letters and some beginnings
// and ends of words.
func WordPiece(more ...Token) *tokenizer.Vocabulary {
	v := &tokenizer.Vocabulary{Model: "bert", Unknown: 0}
	token(v, "[UNK]", tokenizer.Control, 0)
	add(v, more)
	random := rand.New(rand.NewPCG(7, 8))
	letters := []rune("abcdefghijklmnoprstuw一二γ<|>[]/#!~é")
	known := map[string]bool{}
	for range 4000 {
		var text []rune
		for range 1 + random.IntN(3) {
			text = append(text, letters[random.IntN(len(letters))])
		}
		for _, s := range []string{string(text), "▁" + string(text)} {
			if !known[s] {
				known[s] = true
				token(v, s, tokenizer.Normal, 0)
			}
		}
	}
	return v
}

func add(v *tokenizer.Vocabulary, more []Token) {
	for _, t := range more {
		token(v, t.Text, t.Kind, 0)
	}
}

func token(v *tokenizer.Vocabulary, text string, kind tokenizer.Kind, score float64) {
	v.Texts = append(v.Texts, text)
	v.Kinds = append(v.Kinds, kind)
	v.Scores = append(v.Scores, score)
}

// Metadata is what a GGUF file says of a vocabulary.
func Metadata(v *tokenizer.Vocabulary) map[string]any {
	kinds := make([]int32, len(v.Kinds))
	scores := make([]float32, len(v.Scores))
	for i := range kinds {
		kinds[i], scores[i] = int32(v.Kinds[i]), float32(v.Scores[i])
	}
	meta := map[string]any{
		"general.architecture":            "llama",
		"tokenizer.ggml.model":            v.Model,
		"tokenizer.ggml.tokens":           v.Texts,
		"tokenizer.ggml.token_type":       kinds,
		"tokenizer.ggml.scores":           scores,
		"tokenizer.ggml.bos_token_id":     uint32(1),
		"tokenizer.ggml.eos_token_id":     uint32(1),
		"tokenizer.ggml.unknown_token_id": uint32(max(v.Unknown, 0)),
	}
	switch v.Model {
	case "gpt2":
		meta["tokenizer.ggml.pre"] = v.Pre
		meta["tokenizer.ggml.merges"] = v.Merges
		delete(meta, "tokenizer.ggml.unknown_token_id")
	case "llama":
		meta["tokenizer.ggml.add_space_prefix"] = v.AddSpace
	case "bert":
		meta["tokenizer.ggml.seperator_token_id"] = uint32(0)
	}
	return meta
}
