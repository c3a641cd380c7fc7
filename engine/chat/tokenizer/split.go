package tokenizer

import "unicode/utf8"

// A pre-tokenizer splits a text into words; merges do not cross words. Models define it
// by regular expressions, each of which splits the pieces of the previous one. Here each
// is a function that runs in linear time without recursion.

// text is the input of a pass: s[start:end], without lookahead beyond end.
type text struct {
	classes    classes
	s          string
	start, end int
}

// at returns the character at i, its class and the next index; -1 and none at the end.
func (t *text) at(i int) (r rune, c class, next int) {
	if i >= t.end {
		return -1, none, t.end
	}
	if b := t.s[i]; b < utf8.RuneSelf {
		return rune(b), t.classes[b], i + 1
	}
	r, size := utf8.DecodeRuneInString(t.s[i:t.end])
	return r, t.classes.of(r), i + size
}

// class is the class of the character at i.
func (t *text) class(i int) class {
	_, c, _ := t.at(i)
	return c
}

// skip is the end of the run of characters in set from i on.
func (t *text) skip(i int, set class) int {
	for {
		_, c, next := t.at(i)
		if !c.is(set) {
			return i
		}
		i = next
	}
}

// pass splits a text and yields the end of each piece. It returns false if yield did.
type pass func(t *text, yield func(end int) bool) bool

// splitter is a pre-tokenizer.
type splitter []pass

// words yields the words of s.
func (p splitter) words(c classes, s string, yield func(string) bool) {
	if s != "" {
		p.cut(&text{c, s, 0, len(s)}, yield)
	}
}

func (p splitter) cut(t *text, yield func(string) bool) bool {
	if len(p) == 0 {
		return yield(t.s[t.start:t.end])
	}
	start := t.start
	return p[0](t, func(end int) bool {
		part := text{t.classes, t.s, start, end}
		start = end
		return p[1:].cut(&part, yield)
	})
}

// match returns the end of the match at i, or i.
type match func(t *text, i int) int

// here returns a pass whose pieces are the matches and the texts between them.
func here(find match) pass {
	return func(t *text, yield func(end int) bool) bool {
		done := t.start
		for i := t.start; i < t.end; {
			to := find(t, i)
			if to == i {
				_, _, i = t.at(i)
				continue
			}
			if i > done && !yield(i) || !yield(to) {
				return false
			}
			done, i = to, to
		}
		return done == t.end || yield(t.end)
	}
}

// splitterOf returns a pre-tokenizer by name, and llama.cpp's ignore_merges: whether a
// word that is a token is not merged. Unknown names get the default, as in llama.cpp.
func splitterOf(name string) (p splitter, whole bool) {
	switch name {
	case "llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2":
		return splitter{here(words3(3, true))}, true
	case "dbrx", "smaug-bpe", "glm4", "chatglm-bpe":
		return splitter{here(words3(3, true))}, false
	case "qwen2", "deepseek-r1-qwen", "kormo", "stablelm2", "megrez", "hunyuan", "bailingmoe", "bailingmoe2", "llada-moe", "grok-2":
		return splitter{here(words3(1, true))}, false
	case "seed-coder":
		return splitter{here(words3(1, false))}, false
	case "gpt-2", "phi-2", "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de", "a.x-4.0", "mellum",
		"jina-v1-en", "jina-v2-code", "roberta-bpe", "exaone4", "mpt", "olmo", "jais", "trillion", "granite-docling":
		return splitter{here(words2)}, false
	case "starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b":
		return splitter{each(number), here(words2)}, false
	case "falcon":
		return splitter{here(signs("$+<=>^~|`")), here(words2), here(threeDigits)}, false
	case "poro-chat", "bloom", "gpt3-finnish":
		return splitter{here(wordsBloom)}, false
	case "viking":
		return splitter{here(wordsBloom), each(number)}, false
	case "tekken":
		return splitter{here(cased(1, false))}, true
	case "gpt-4o", "llama4", "minimax-m2":
		return splitter{here(cased(3, true))}, false
	case "kimi-k2":
		return splitter{here(wordsKimi)}, false
	case "deepseek-llm":
		return deepseekLLM(), false
	case "deepseek-coder":
		return deepseekCoder(), false
	case "deepseek-v3", "hunyuan-dense":
		return splitter{groups(3), here(runs(oneOf(deepseekIdeographs))), here(wordsMarked)}, false
	case "afmoe":
		return splitter{afmoeDigits, here(runs(oneOf(afmoeIdeographs))), here(wordsMarked)}, false
	case "superbpe":
		return splitter{here(numbers), thousands}, false
	case "chameleon":
		return splitter{here(chameleonSentinel), here(chameleonImage), here(chameleonSpace), each(number), here(chameleonSign), here(words2)}, false
	}
	return splitter{here(signs("$+<=>^~|")), here(words2), here(numbers), here(threeDigits)}, false
}
