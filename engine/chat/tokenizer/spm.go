package tokenizer

import (
	"math"
	"strings"
	"unicode/utf8"
)

// spm is SentencePiece: the pair whose token has the highest score is merged first.
// There is no pre-tokenizer, so a text is one piece. But it can be split between two
// characters that are adjacent in no token, as no merge crosses that border.
type spm struct {
	addSpace bool
	tokens   map[string]int32 // text tokens
	ranks    []uint32         // by token: the higher the score, the lower
	ascii    [128][2]uint64   // bitsets of characters that follow one in some token
	adjacent map[uint64]bool  // other pairs of characters that are adjacent in some token
	bytes    [256]int32       // byte tokens; -1: none
	unknown  int32
}

// wordSpace stands for a space in tokens.
const wordSpace = '▁'

func newSPM(v *Vocabulary) *spm {
	s := &spm{
		addSpace: v.AddSpace,
		tokens:   make(map[string]int32, len(v.Texts)),
		ranks:    make([]uint32, len(v.Texts)),
		adjacent: map[uint64]bool{},
		unknown:  v.Unknown,
	}
	for i := range s.bytes {
		s.bytes[i] = -1
	}
	for i, text := range v.Texts {
		switch v.Kinds[i] {
		case Normal:
			s.tokens[text] = int32(i)
			s.ranks[i] = rankOf(v.Scores[i])
			s.addNeighbors(text)
		case Byte:
			if b, ok := byteOf(text); ok {
				s.bytes[b] = int32(i)
			}
		}
	}
	return s
}

// rankOf maps higher scores to lower ranks.
func rankOf(score float64) uint32 {
	bits := math.Float32bits(float32(score) + 0) // -0 becomes 0
	if bits>>31 == 0 {
		bits |= 1 << 31
	} else {
		bits = ^bits
	}
	return min(^bits, noRank-1)
}

// byteOf parses the text of a byte token, <0x0A>.
func byteOf(text string) (byte, bool) {
	if len(text) != 6 || text[:3] != "<0x" || text[5] != '>' {
		return 0, false
	}
	n := 0
	for _, c := range []byte(text[3:5]) {
		digit := strings.IndexByte("0123456789ABCDEF", c)
		if digit < 0 {
			return 0, false
		}
		n = n*16 + digit
	}
	return byte(n), true
}

func (s *spm) addNeighbors(text string) {
	last := rune(-1)
	for _, r := range text {
		switch {
		case last < 0:
		case last < utf8.RuneSelf && r < utf8.RuneSelf:
			s.ascii[last][r/64] |= 1 << (r % 64)
		default:
			s.adjacent[uint64(last)<<32|uint64(r)] = true
		}
		last = r
	}
}

// neighbors reports whether a and b are adjacent in some token.
func (s *spm) neighbors(a, b rune) bool {
	if a < utf8.RuneSelf && b < utf8.RuneSelf {
		return s.ascii[a][b/64]&(1<<(b%64)) != 0
	}
	return s.adjacent[uint64(a)<<32|uint64(b)]
}

// append implements [algorithm].
func (s *spm) append(e *encoding, text string, first bool) error {
	last := rune(-1)
	start := 0
	e.buffer = e.buffer[:0]
	if first && s.addSpace {
		e.buffer = utf8.AppendRune(e.buffer, wordSpace)
		last = wordSpace
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == wordSpace && s.spellsSpace() {
			if err := s.flush(e, text[start:i]); err != nil {
				return err
			}
			s.emit(e, []byte(text[i:i+size]), -1)
			last, i = -1, i+size
			start = i
			continue
		}
		if r == ' ' {
			r = wordSpace
		}
		if last >= 0 && !s.neighbors(last, r) {
			if err := s.flush(e, text[start:i]); err != nil {
				return err
			}
			start = i
		}
		last = r
		i += size
	}
	return s.flush(e, text[start:])
}

// spellsSpace reports whether wordSpace in a text can be encoded as byte tokens, so that
// it decodes to itself and not to a space.
func (s *spm) spellsSpace() bool {
	for _, b := range []byte(string(wordSpace)) {
		if s.bytes[b] < 0 {
			return false
		}
	}
	return true
}

// flush tokenizes a piece: the buffer followed by text.
func (s *spm) flush(e *encoding, text string) error {
	front := len(e.buffer)
	if front+len(text) == 0 {
		return nil
	}
	if !e.fits(front + len(text)) {
		return ErrMany
	}
	err := e.piece(front+len(text), func(n int) error {
		part := cut(text, max(0, n-front))
		e.buffer = e.buffer[:front]
		for {
			before, after, blank := strings.Cut(part, " ")
			e.buffer = append(e.buffer, before...)
			if !blank {
				break
			}
			e.buffer = utf8.AppendRune(e.buffer, wordSpace)
			part = after
		}
		return s.piece(e, e.buffer)
	})
	e.buffer = e.buffer[:0]
	return err
}

// piece tokenizes a piece whose spaces are replaced.
func (s *spm) piece(e *encoding, text []byte) error {
	if id, ok := s.tokens[string(text)]; ok && utf8.RuneCount(text) == 1 {
		e.tokens = append(e.tokens, id)
		return nil
	}
	m := &e.merger
	m.reset()
	for i := 0; i < len(text); {
		_, size := utf8.DecodeRune(text[i:])
		id, ok := s.tokens[string(text[i:i+size])]
		if !ok {
			id = -1
		}
		i += size
		m.push(i, id)
	}
	err := m.run(e.ctx, func(l, r *mergeSymbol) merged {
		if id, ok := s.tokens[string(text[l.start:r.end])]; ok {
			return merged{rank: s.ranks[id], id: id}
		}
		return merged{rank: noRank}
	})
	if err != nil || len(m.symbols) == 0 {
		return err
	}
	for i := int32(0); i >= 0; i = m.symbols[i].next {
		s.emit(e, text[m.symbols[i].start:m.symbols[i].end], m.symbols[i].id)
	}
	return nil
}

// emit appends a token, or byte tokens for a character without one.
func (s *spm) emit(e *encoding, text []byte, id int32) {
	if id >= 0 {
		e.tokens = append(e.tokens, id)
		return
	}
	for _, b := range text {
		if s.bytes[b] < 0 {
			if s.unknown >= 0 {
				e.tokens = append(e.tokens, s.unknown)
			}
			return
		}
		e.tokens = append(e.tokens, s.bytes[b])
	}
}
