package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// bpe is byte-level BPE. Vocabularies encode each byte as a visible character.
type bpe struct {
	classes classes
	split   splitter
	bytes   [256]int32 // symbol of each byte
	pairs   *pairs
	emits   []int32          // by symbol: its token, or below 0 if it is not text
	parts   [][2]int32       // by symbol: what it was merged from, or zeros
	known   int              // symbols below this are in the vocabulary
	words   map[string]int32 // ignore_merges: words that are tokens without merging; nil: not set
	unknown int32
}

func newBPE(v *Vocabulary) *bpe {
	split, whole := splitterOf(v.Pre)
	b := &bpe{classes: newClasses(), split: split, known: len(v.Texts), unknown: v.Unknown}
	ids := make(map[string]int32, len(v.Texts))
	for i, text := range v.Texts {
		if v.Kinds[i] != Undefined {
			ids[text] = int32(i)
		}
		b.emits = append(b.emits, -1)
		if v.Kinds[i] == Normal {
			b.emits[i] = int32(i)
		}
	}
	id := func(text string) int32 {
		if id, ok := ids[text]; ok {
			return id
		}
		ids[text] = int32(len(b.emits))
		b.emits = append(b.emits, -1)
		return ids[text]
	}
	for i, r := range byteAlphabet() {
		b.bytes[i] = id(string(r))
	}
	b.pairs = newPairs(len(v.Merges))
	b.parts = make([][2]int32, len(b.emits), len(b.emits)+256)
	for rank, merge := range v.Merges {
		left, right, ok := cutMerge(merge)
		if !ok {
			continue
		}
		l, r, both := id(left), id(right), id(left+right)
		b.pairs.add(l, r, merged{rank: uint32(rank), id: both})
		for len(b.parts) < len(b.emits) {
			b.parts = append(b.parts, [2]int32{})
		}
		if b.parts[both] == ([2]int32{}) {
			b.parts[both] = [2]int32{l, r}
		}
	}
	if whole {
		b.words = b.wholeWords(v)
	}
	return b
}

// cutMerge parses a merge: two symbols separated by a space.
func cutMerge(merge string) (left, right string, ok bool) {
	if merge == "" {
		return "", "", false
	}
	i := strings.IndexByte(merge[1:], ' ')
	if i < 0 {
		return "", "", false
	}
	left, right = merge[:i+1], merge[i+2:]
	return left, right, right != ""
}

// wholeWords maps the bytes of text tokens to tokens.
func (b *bpe) wholeWords(v *Vocabulary) map[string]int32 {
	plain := map[rune]byte{}
	for i, r := range byteAlphabet() {
		plain[r] = byte(i)
	}
	words := make(map[string]int32, len(v.Texts))
next:
	for i, text := range v.Texts {
		if v.Kinds[i] != Normal {
			continue
		}
		word := make([]byte, 0, len(text))
		for _, r := range text {
			c, ok := plain[r]
			if !ok {
				continue next // not in the byte alphabet
			}
			word = append(word, c)
		}
		words[string(word)] = int32(i)
	}
	return words
}

// byteAlphabet is GPT-2's bytes_to_unicode: visible Latin-1 characters stand for
// themselves, other bytes for characters from U+0100 on.
func byteAlphabet() [256]rune {
	var alphabet [256]rune
	next := rune(256)
	for i := range alphabet {
		r := rune(i)
		if r >= '!' && r <= '~' || r >= 0xa1 && r != 0xad {
			alphabet[i] = r
			continue
		}
		alphabet[i] = next
		next++
	}
	return alphabet
}

// append implements [algorithm].
func (b *bpe) append(e *encoding, text string, _ bool) error {
	if !utf8.ValidString(text) {
		text = replaceInvalid(text)
	}
	var err error
	b.split.words(b.classes, text, func(word string) bool {
		if !e.fits(len(word)) {
			err = ErrMany
			return false
		}
		err = e.piece(len(word), func(n int) error { return b.word(e, cut(word, n)) })
		return err == nil
	})
	return err
}

func (b *bpe) word(e *encoding, word string) error {
	if id, ok := b.words[word]; ok {
		e.tokens = append(e.tokens, id)
		return nil
	}
	if len(word) == 1 {
		b.emit(e, b.bytes[word[0]])
		return nil
	}
	if len(word) <= shortWord {
		b.short(e, word)
		return nil
	}
	m := &e.merger
	m.reset()
	for i := range len(word) {
		m.push(i+1, b.bytes[word[i]])
	}
	if err := m.run(e.ctx, func(l, r *mergeSymbol) merged { return b.pairs.of(l.id, r.id) }); err != nil {
		return err
	}
	for i := int32(0); i >= 0; i = m.symbols[i].next {
		b.emit(e, m.symbols[i].id)
	}
	return nil
}

// shortWord is up to which length in bytes a linear search for the best pair is faster
// than a heap. Nearly all words are shorter.
const shortWord = 24

func (b *bpe) short(e *encoding, word string) {
	var ids [shortWord]int32
	var next [shortWord]merged // symbols i and i+1
	n := len(word)
	for i := range n {
		ids[i] = b.bytes[word[i]]
	}
	for i := range n - 1 {
		next[i] = b.pairs.of(ids[i], ids[i+1])
	}
	for {
		best := -1
		for i := range n - 1 {
			if next[i].rank != noRank && (best < 0 || next[i].rank < next[best].rank) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		ids[best] = next[best].id
		copy(ids[best+1:n-1], ids[best+2:n])
		copy(next[best+1:n-1], next[best+2:n])
		n--
		if best+1 < n {
			next[best] = b.pairs.of(ids[best], ids[best+1])
		}
		if best > 0 {
			next[best-1] = b.pairs.of(ids[best-1], ids[best])
		}
	}
	for i := range n {
		b.emit(e, ids[i])
	}
}

// emit appends the token of a symbol. A symbol that is a special token is split into
// what it was merged from, and one that the vocabulary lacks into bytes.
func (b *bpe) emit(e *encoding, symbol int32) {
	parts := b.parts[symbol]
	switch {
	case b.emits[symbol] >= 0:
		e.tokens = append(e.tokens, b.emits[symbol])
	case parts == ([2]int32{}):
		if b.unknown >= 0 {
			e.tokens = append(e.tokens, b.unknown)
		}
	case int(symbol) < b.known:
		b.emit(e, parts[0])
		b.emit(e, parts[1])
	default:
		b.spell(e, parts[0])
		b.spell(e, parts[1])
	}
}

// spell appends the byte tokens of a symbol.
func (b *bpe) spell(e *encoding, symbol int32) {
	if parts := b.parts[symbol]; parts != ([2]int32{}) {
		b.spell(e, parts[0])
		b.spell(e, parts[1])
		return
	}
	b.emit(e, symbol)
}

// replaceInvalid replaces each invalid byte by U+FFFD.
func replaceInvalid(text string) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteRune(r)
	}
	return b.String()
}
