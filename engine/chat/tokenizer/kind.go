package tokenizer

import (
	"slices"
	"strings"
)

// Kind is the type of a token (llama_token_type).
type Kind uint8

const (
	Undefined   Kind = iota
	Normal           // text
	Unknown          // for text without a token
	Control          // special; not part of the output
	UserDefined      // special, but part of the output
	Unused
	Byte // a byte of a character without a token
)

// special reports whether the token is special, which no text becomes.
func (k Kind) special() bool { return k == Control || k == UserDefined || k == Unknown }

// Texts that llama.cpp makes control or user-defined tokens, whatever the file says.
var (
	alwaysControl = []string{
		"<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<end_of_turn>", "<|endoftext|>", "<|eom_id|>", "<EOT>", "_<EOT>",
		"<|end_of_text|>", "<end_of_utterance>",
	}
	// The first of each row that exists, if the file has none of the keys.
	controlOfKey = []struct {
		keys      []string
		spellings []string
	}{
		{[]string{"eot_token_id"}, []string{"<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>", "<EOT>", "_<EOT>",
			"<｜end▁of▁sentence｜>", "<end_of_utterance>"}},
		{[]string{"eom_token_id"}, []string{"<|eom_id|>"}},
		{[]string{"fim_pre_token_id", "prefix_token_id"}, []string{"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>", "<|code_prefix|>"}},
		{[]string{"fim_suf_token_id", "suffix_token_id"}, []string{"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>", "<|code_suffix|>"}},
		{[]string{"fim_mid_token_id", "middle_token_id"}, []string{"<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>", "<|code_middle|>"}},
		{[]string{"fim_pad_token_id"}, []string{"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>"}},
		{[]string{"fim_rep_token_id"}, []string{"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"}},
		{[]string{"fim_sep_token_id"}, []string{"<|file_sep|>"}},
	}
	alwaysUser = []string{"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"}
)

// overrule changes kinds as llama.cpp does. Of several texts for one purpose llama.cpp
// takes the first in hash order, which differs between builds; here all become control
// tokens. So do end tokens in files without token types. named looks up a token by its
// metadata key.
func (v *Vocabulary) overrule(named func(key string) (int, bool)) {
	var ends []int
	for _, key := range []string{"bos_token_id", "eos_token_id", "eot_token_id", "eom_token_id"} {
		if id, ok := named(key); ok {
			ends = append(ends, id)
		}
	}
	isNamed := func(key string) bool {
		_, ok := named(key)
		return ok
	}
	ids := make(map[string]int, len(alwaysControl))
	for _, row := range controlOfKey {
		for _, s := range row.spellings {
			ids[s] = -1
		}
	}
	for _, s := range slices.Concat(alwaysControl, alwaysUser) {
		ids[s] = -1
	}
	for i, text := range v.Texts {
		if _, ok := ids[text]; ok {
			ids[text] = i
		}
	}
	set := func(spellings []string, kind Kind) {
		for _, s := range spellings {
			if i := ids[s]; i >= 0 {
				v.Kinds[i] = kind
			}
		}
	}
	for _, row := range controlOfKey {
		if !slices.ContainsFunc(row.keys, isNamed) {
			set(row.spellings, Control)
		}
	}
	set(alwaysControl, Control)
	set(alwaysUser, UserDefined)
	for _, id := range ends {
		if k := v.Kinds[id]; !k.special() && strings.ContainsAny(v.Texts[id], "<>[]|｜") {
			v.Kinds[id] = Control
		}
	}
	if ids["<|return|>"] >= 0 && ids["<|call|>"] >= 0 && ids["<|end|>"] >= 0 {
		set([]string{"<|end|>"}, UserDefined)
	}
}

// strips sets which special tokens strip the white space around them, which llama.cpp
// decides by model name.
func (v *Vocabulary) strips(name, architecture string) {
	name = strings.ToLower(name)
	contains := func(s string, parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
	}
	switch {
	case contains(v.Pre, "jina-v2-de", "jina-v2-es", "jina-v2-code") || contains(architecture, "nomic-bert-moe", "jina-bert-v3"):
		v.stripBefore = func(spelling string) bool { return spelling == "<mask>" }
	case contains(name, "phi-3", "phi3"):
		v.stripBehind = func(spelling string) bool {
			return spelling != "<unk>" && spelling != "<s>" && spelling != "<|endoftext|>"
		}
	}
}
