//go:build llamacpp && cgo

package llamacpp

import (
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/chat/tokenizer"
	"github.com/diglot/diglot/engine/chat/tokenizer/tokenizertest"
	"github.com/diglot/diglot/engine/gguf"
)

// vocabularyFile writes a file of a vocabulary alone.
func vocabularyFile(t *testing.T, v *tokenizer.Vocabulary) string {
	t.Helper()
	var file gguf.Draft
	meta := tokenizertest.Metadata(v)
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		file.Set(key, meta[key])
	}
	path := filepath.Join(t.TempDir(), "vocabulary.gguf")
	if err := file.Write(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// bothTokenizers are ours and llama.cpp's for one file.
type bothTokenizers struct {
	vocabulary *tokenizer.Vocabulary
	special    *tokenizer.Spellings
	ours       *tokenizer.Tokenizer
	theirs     *weights
}

func openBoth(t testing.TB, path string) bothTokenizers {
	t.Helper()
	file, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	v, err := tokenizer.Read(path, file)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := tokenizer.New(v)
	if err != nil {
		t.Fatal(err)
	}
	theirs := loadVocabulary(path)
	if theirs == nil {
		t.Fatal("llama.cpp cannot load the vocabulary")
	}
	t.Cleanup(theirs.free)
	return bothTokenizers{v, tokenizer.NewSpellings(v.Special()), ours, theirs}
}

// same compares the tokens of a text, without the spellings of special tokens
// in it: llama.cpp makes user-defined tokens of these.
func (b bothTokenizers) same(t *testing.T, text string) {
	t.Helper()
	for b.special.In(text) {
		for from, to := range b.special.Find(text) {
			text = text[:from] + text[to:]
			break
		}
	}
	ours, err := b.ours.Encode(t.Context(), nil, []tokenizer.Part{{Text: text}}, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := b.theirs.tokenize(text, false, false)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ours, theirs) {
		i := 0
		for i < len(ours) && i < len(theirs) && ours[i] == theirs[i] {
			i++
		}
		spell := func(tokens []int32) string {
			var words []string
			for _, id := range tokens[max(0, i-2):min(len(tokens), i+6)] {
				words = append(words, b.vocabulary.Texts[id])
			}
			return strings.Join(words, "·")
		}
		t.Errorf("text %.200q: from token %d on\nours   %s\ntheirs %s", text, i, spell(ours), spell(theirs))
	}
}

// preTokenizers are all names that llama.cpp knows, and one that it does not.
var preTokenizers = []string{
	"default", "llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "deepseek-llm", "deepseek-coder",
	"deepseek-v3", "falcon", "mpt", "starcoder", "gpt-2", "phi-2", "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de", "a.x-4.0",
	"mellum", "jina-v1-en", "jina-v2-code", "roberta-bpe", "refact", "command-r", "qwen2", "deepseek-r1-qwen", "kormo", "stablelm2", "olmo",
	"dbrx", "smaug-bpe", "poro-chat", "glm4", "chatglm-bpe", "viking", "jais", "tekken", "smollm", "codeshell", "bloom", "gpt3-finnish",
	"exaone", "exaone4", "chameleon", "minerva-7b", "megrez", "gpt-4o", "llama4", "superbpe", "trillion", "granite-docling", "bailingmoe",
	"bailingmoe2", "llada-moe", "seed-coder", "hunyuan", "hunyuan-dense", "kimi-k2", "grok-2", "afmoe", "minimax-m2", "unheard-of",
}

func TestTokenizerAsLlama(t *testing.T) {
	files := map[string]string{
		"spm": vocabularyFile(t, tokenizertest.SPM(true)), "spm without a blank in front": vocabularyFile(t, tokenizertest.SPM(false)),
		"wordpiece": vocabularyFile(t, tokenizertest.WordPiece()),
	}
	for _, name := range realModels {
		files[name] = modelFile(t, name)
	}
	for _, name := range preTokenizers {
		files["pre "+name] = vocabularyFile(t, tokenizertest.BPE(name, tokenizertest.Control("<a>", "<b>")...))
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t.Run(name, func(t *testing.T) {
			b := openBoth(t, files[name])
			b.same(t, tokenizertest.Prose)
			r := rand.New(rand.NewPCG(1, 2))
			for range 200 {
				b.same(t, tokenizertest.Text(r, 1+r.IntN(40)))
				if t.Failed() {
					return
				}
			}
		})
	}
}
