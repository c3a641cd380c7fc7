package inspection

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
)

// The keys of a vocabulary.
const (
	tokenizerKey = "tokenizer.ggml.model"
	preKey       = "tokenizer.ggml.pre"
	tokensKey    = "tokenizer.ggml.tokens"
	scoresKey    = "tokenizer.ggml.scores"
	typesKey     = "tokenizer.ggml.token_type"
	mergesKey    = "tokenizer.ggml.merges"
	charsmapKey  = "tokenizer.ggml.precompiled_charsmap"
)

// none is the number of a token that there is not.
const none = -1

// tokenizer is one of llama.cpp's: what it takes for the tokens of a certain
// use where the file does not say.
type tokenizer struct {
	defaults map[string]int64 // by the use, see uses
	addBOS   bool
	addEOS   bool
	bytes    bool // it spells bytes as <0xHH>
	merges   bool // it needs rules that join tokens
}

// tokenizers are those that llama.cpp has, by the names that files have.
func tokenizers() map[string]tokenizer {
	return map[string]tokenizer{
		"llama":  {defaults: map[string]int64{"bos": 1, "eos": 2, "unknown": 0}, addBOS: true, bytes: true},
		"bert":   {defaults: map[string]int64{"bos": 101, "unknown": 100, "seperator": 102, "padding": 0, "mask": 103}, addBOS: true},
		"gpt2":   {defaults: map[string]int64{"bos": 11, "eos": 11}, merges: true},
		"t5":     {defaults: map[string]int64{"eos": 1, "unknown": 2, "padding": 0}, addEOS: true, bytes: true},
		"rwkv":   {},
		"plamo2": {defaults: map[string]int64{"bos": 1, "eos": 2, "unknown": 0, "padding": 3}, bytes: true},
	}
}

// uses are the tokens that a file names, by the middle of the key.
var uses = []string{
	"bos", "eos", "eot", "eom", "unknown", "seperator", "padding", "mask", "fim_pre", "fim_suf", "fim_mid", "fim_pad", "fim_rep", "fim_sep",
	"prefix", "suffix", "middle",
}

// preTokenizers are the ways of cutting a text before the rules of a vocabulary
// of the kind gpt2 are applied, by the names that files have. Those in
// startPreTokenizers put a token in front of a text where the file does not say.
var preTokenizers = []string{
	"a.x-4.0", "afmoe", "bailingmoe", "bailingmoe2", "bloom", "chameleon", "chatglm-bpe", "codeshell", "command-r", "dbrx", "deepseek-coder", "deepseek-llm",
	"deepseek-r1-qwen", "deepseek-v3", "default", "exaone", "exaone4", "falcon", "falcon-h1", "falcon3", "gigachat", "glm4", "gpt-2", "gpt-4o", "gpt3-finnish",
	"granite-docling", "grok-2", "hunyuan", "hunyuan-dense", "jais", "jina-de", "jina-es", "jina-v1-en", "jina-v2-code", "jina-v2-de", "jina-v2-es", "kimi-k2",
	"kormo", "lfm2", "llada-moe", "llama-bpe", "llama-v3", "llama3", "llama4", "megrez", "mellum", "midm-2.0", "minerva-7b", "minimax-m2", "mpt", "olmo",
	"phi-2", "pixtral", "poro-chat", "qwen2", "refact", "roberta-bpe", "seed-coder", "smaug-bpe", "smollm", "stablelm2", "starcoder", "superbpe", "tekken",
	"trillion", "viking",
}

var startPreTokenizers = []string{"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "tekken", "chameleon"}

// withoutStart are pre-tokenizers whose vocabularies have no token for the start
// of a text, unless the file names one.
var withoutStart = []string{"glm4", "chatglm-bpe"}

// Bounds of a vocabulary.
const (
	minTokens = 1
	maxTokens = 1 << 22
	maxToken  = 1 << 12 // bytes of a token; llama.cpp's work grows with the square of it
	maxSpelt  = 1 << 26 // bytes that llama.cpp makes of tokens that it cannot spell
)

// checkVocabulary looks at the tokens and what a file says of them.
func checkVocabulary(path string, file *gguf.File) error {
	t, err := checkTokenizer(file)
	if err != nil {
		return err
	}
	for _, a := range vocabularyArrays() {
		if err := a.checkKind(file); err != nil {
			return err
		}
	}
	arrays, err := gguf.ReadArrays(path, tokensKey, scoresKey, typesKey, mergesKey, charsmapKey)
	if err != nil {
		return err
	}
	v := vocabulary{file, t, arrays}
	for _, check := range []func() error{v.checkCounts, v.checkUses, v.checkTokens, v.checkNamed, v.checkMerges, v.checkSpelling, v.checkCharsmap} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func checkTokenizer(file *gguf.File) (tokenizer, error) {
	for _, key := range []string{tokenizerKey, preKey} {
		if kind, ok := file.Kind(key); ok && kind.Type != gguf.String {
			return tokenizer{}, fmt.Errorf("%s is stored as %s; it must be a string", key, kind)
		}
	}
	if kind, ok := file.Kind(tokenTypesKey); ok && kind.Type != gguf.Uint32 {
		return tokenizer{}, fmt.Errorf("%s is stored as %s; it must be a uint32", tokenTypesKey, kind)
	}
	for _, key := range flagKeys {
		if kind, ok := file.Kind(key); ok && kind.Type != gguf.Bool {
			return tokenizer{}, fmt.Errorf("%s is stored as %s; it must be a bool", key, kind)
		}
	}
	name := file.String(tokenizerKey)
	t, ok := tokenizers()[name]
	switch {
	case name == "":
		return t, fmt.Errorf("%s is missing: the file has no vocabulary", tokenizerKey)
	case !ok:
		return t, fmt.Errorf("%s is %.40q; it must be one of %s", tokenizerKey, name, strings.Join(sortedNames(tokenizers()), ", "))
	}
	if pre := file.String(preKey); t.merges && pre != "" && !slices.Contains(preTokenizers, pre) {
		return t, fmt.Errorf("%s is %.40q, which the llama.cpp of this program does not know: it would cut texts in the wrong places", preKey, pre)
	}
	return t, nil
}

const tokenTypesKey = "tokenizer.ggml.token_type_count"

var flagKeys = []string{
	"tokenizer.ggml.add_bos_token", "tokenizer.ggml.add_eos_token", "tokenizer.ggml.add_sep_token", "tokenizer.ggml.add_space_prefix",
	"tokenizer.ggml.remove_extra_whitespaces",
}

// vocabularyArray is one of the arrays, with the type that llama.cpp reads it
// as, whatever it is.
type vocabularyArray struct {
	name string
	kind gguf.ValueType
	must bool
}

func vocabularyArrays() []vocabularyArray {
	return []vocabularyArray{
		{tokensKey, gguf.String, true}, {scoresKey, gguf.Float32, false}, {typesKey, gguf.Int32, false},
		{mergesKey, gguf.String, false}, {charsmapKey, gguf.Uint8, false},
	}
}

func (a vocabularyArray) checkKind(file *gguf.File) error {
	want := gguf.Kind{Type: gguf.ArrayOf, Element: a.kind}
	kind, ok := file.Kind(a.name)
	switch {
	case !ok && a.must:
		return fmt.Errorf("%s is missing: the file has no vocabulary", a.name)
	case ok && kind != want && !(a.kind == gguf.Int32 && kind == gguf.Kind{Type: gguf.ArrayOf, Element: gguf.Uint32}) &&
		!(a.kind == gguf.Uint8 && kind == gguf.Kind{Type: gguf.ArrayOf, Element: gguf.Int8}):
		return fmt.Errorf("%s is stored as %s; it must be an %s", a.name, kind, want)
	}
	return nil
}

// vocabulary is that of a file, all of it.
type vocabulary struct {
	file      *gguf.File
	tokenizer tokenizer
	arrays    map[string]gguf.Array
}

func (v vocabulary) tokens() []string { return v.arrays[tokensKey].Strings }

func (v vocabulary) checkCounts() error {
	n := len(v.tokens())
	if n < minTokens || n > maxTokens {
		return fmt.Errorf("%s has %d tokens; there must be from %d to %d", tokensKey, n, minTokens, maxTokens)
	}
	for _, key := range []string{scoresKey, typesKey} {
		if a, ok := v.arrays[key]; ok && len(a.Numbers) != n {
			return fmt.Errorf("%s has %d values; there must be as many as tokens, which are %d", key, len(a.Numbers), n)
		}
	}
	for i, score := range v.arrays[scoresKey].Numbers {
		if math.IsNaN(score) || math.IsInf(score, 0) {
			return fmt.Errorf("%s is %g for token %d; it must be a number", scoresKey, score, i)
		}
	}
	if size, ok := v.file.Int(v.file.Key("vocab_size")); ok && size > int64(n) {
		return fmt.Errorf("%s is %d; it must be at most the number of tokens, which is %d", v.file.Key("vocab_size"), size, n)
	}
	return nil
}

// use is the token for a use, as llama.cpp takes it.
func (v vocabulary) use(name string) int64 {
	id, ok := v.file.Int(useKey(name))
	if ok && id >= 0 && id < int64(len(v.tokens())) {
		return id
	}
	if name == "bos" && slices.Contains(withoutStart, v.file.String(preKey)) && v.tokenizer.merges {
		return none
	}
	if id, ok := v.tokenizer.defaults[name]; ok {
		return id
	}
	return none
}

func useKey(name string) string { return "tokenizer.ggml." + name + "_token_id" }

func (v vocabulary) checkUses() error {
	n := int64(len(v.tokens()))
	for _, name := range uses {
		key := useKey(name)
		kind, there := v.file.Kind(key)
		if there && kind.Type != gguf.Uint32 {
			return fmt.Errorf("%s is stored as %s; it must be a uint32", key, kind)
		}
		// Files write what there is not as the largest number, and many name a
		// token for padding that there is not: it is never used.
		id, _ := v.file.Int(key)
		if there && id >= n && id != math.MaxUint32 && name != "padding" {
			return fmt.Errorf("%s is %d; it must be one of the %d tokens", key, id, n)
		}
		if id := v.use(name); id >= n {
			return fmt.Errorf("%s must be there: the token %d, which a tokenizer %s takes without it, is none of the %d tokens", key, id, v.file.String(tokenizerKey), n)
		}
	}
	return cmp.Or(
		v.checkAdded("bos", v.tokenizer.addBOS || v.tokenizer.merges && slices.Contains(startPreTokenizers, v.file.String(preKey))),
		v.checkAdded("eos", v.tokenizer.addEOS))
}

// checkAdded wants a token that is put before or behind each text to be there.
func (v vocabulary) checkAdded(name string, added bool) error {
	key := "tokenizer.ggml.add_" + name + "_token"
	if given, ok := v.file.Bool(key); ok {
		added = given
	}
	if name == "bos" && v.file.String(tokenizerKey) == "bert" {
		added = true
	}
	if added && v.use(name) == none {
		return fmt.Errorf("%s is missing: a text gets this token (%s)", useKey(name), key)
	}
	return nil
}

// checkTokens wants each token to be there once, as llama.cpp reads it: up to a
// NUL, and with a name of its own where it is empty.
func (v vocabulary) checkTokens() error {
	seen := make(map[string]int, len(v.tokens()))
	for i, token := range v.tokens() {
		text, _, _ := strings.Cut(token, "\x00")
		if text == "" {
			text = fmt.Sprintf("[EMPTY_%d]", i)
		}
		if first, ok := seen[text]; ok {
			return fmt.Errorf("%s has %.40q twice, as token %d and as %d; each must be there once", tokensKey, text, first, i)
		}
		seen[text] = i
		if len(text) > maxToken {
			return fmt.Errorf("%s has a token of %d bytes, number %d; one may have %d", tokensKey, len(text), i, maxToken)
		}
	}
	return nil
}

// namesOfPhi and tokensOfPhi: the tokens that llama.cpp looks for in models that are called by
// one of these names.
var (
	namesOfPhi  = []string{"phi-3", "phi3"}
	tokensOfPhi = []string{"</s>", "<unk>", "<s>", "<|endoftext|>"}
)

func (v vocabulary) checkNamed() error {
	name := strings.ToLower(v.file.String("general.name"))
	if !slices.ContainsFunc(namesOfPhi, func(n string) bool { return strings.Contains(name, n) }) {
		return nil
	}
	for _, token := range tokensOfPhi {
		if !slices.Contains(v.tokens(), token) {
			return fmt.Errorf("%s has no token %s; models that are called by the name of Phi-3 have it", tokensKey, token)
		}
	}
	return nil
}

func (v vocabulary) checkMerges() error {
	merges, ok := v.arrays[mergesKey]
	if !v.tokenizer.merges {
		return nil
	}
	if !ok {
		return fmt.Errorf("%s is missing; a tokenizer %s has it", mergesKey, v.file.String(tokenizerKey))
	}
	for i, merge := range merges.Strings {
		if len(merge) > 2*maxToken || len(merge) < 3 || !strings.Contains(merge[1:len(merge)-1], " ") {
			return fmt.Errorf("%s has %.40q, number %d; each must be two parts of tokens with a blank between", mergesKey, merge, i)
		}
	}
	return nil
}
