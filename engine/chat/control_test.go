package chat_test

import (
	"embed"
	"testing"

	"github.com/diglot/diglot/engine/chat/chattest"
	"github.com/diglot/diglot/engine/chat/tokenizer"
	"github.com/diglot/diglot/engine/chat/tokenizer/tokenizertest"
)

//go:embed template/builtin/*.jinja
var builtin embed.FS

// odd are control tokens that nest, overlap, share their beginnings, contain
// spaces or no ASCII, or are words.
var odd = []tokenizertest.Token{
	{Text: "<a", Kind: tokenizer.Control}, {Text: "<a>", Kind: tokenizer.UserDefined}, {Text: "<a><b>", Kind: tokenizer.Control},
	{Text: "b>c", Kind: tokenizer.Control}, {Text: "« x »", Kind: tokenizer.UserDefined}, {Text: "<|tool of |>", Kind: tokenizer.Control},
	{Text: "<｜User｜>", Kind: tokenizer.Control}, {Text: "🙂", Kind: tokenizer.UserDefined}, {Text: "word", Kind: tokenizer.UserDefined},
	{Text: "ne", Kind: tokenizer.UserDefined}, {Text: "\n\n", Kind: tokenizer.UserDefined}, {Text: "  ", Kind: tokenizer.UserDefined},
	{Text: `"a"`, Kind: tokenizer.Control}, {Text: "<<", Kind: tokenizer.Control}, {Text: "aaa", Kind: tokenizer.UserDefined},
}

// common are control tokens of many models.
var common = tokenizertest.Control("<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>", "[INST]", "[/INST]",
	"[TOOL_CALLS]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "<start_of_turn>", "<end_of_turn>",
	`<|"|>`, "<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|call|>", "<tool_call>", "</tool_call>", "<tool_response>",
	"<｜tool▁calls▁begin｜>", "<｜Assistant｜>", "<|user|>", "<|assistant|>", "<|system|>", "<think>")

// vocabularies are made ones of each kind, with these tokens.
func vocabularies(special []tokenizertest.Token) map[string]*tokenizer.Vocabulary {
	return map[string]*tokenizer.Vocabulary{
		"bpe":                           tokenizertest.BPE("qwen2", special...),
		"bpe, whole words":              tokenizertest.BPE("llama3", special...),
		"spm":                           tokenizertest.SPM(true, special...),
		"spm, without a blank in front": tokenizertest.SPM(false, special...),
	}
}

// TestControlTokens: nothing that a client sends becomes a control token.
func TestControlTokens(t *testing.T) {
	special := append(odd, common...)
	for name, v := range vocabularies(special) {
		files, err := builtin.ReadDir("template/builtin")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := builtin.ReadFile("template/builtin/" + file.Name())
			if err != nil {
				t.Fatal(err)
			}
			t.Run(name+"/"+file.Name(), func(t *testing.T) {
				subject := chattest.NewSubject(t, v, string(source))
				subject.Whole = true
				chattest.Check(t, subject, 12)
			})
		}
	}
}
