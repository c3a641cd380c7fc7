package draft

// Index finds the last occurrence of a text's last tokens. Its zero value is empty.
type Index struct {
	added int // tokens
	long  table
	short table
}

// The lengths of the runs of tokens that an index knows. A long run is a better guess;
// a short one finds the way back after a difference.
const (
	longRun  = 4
	shortRun = 2
)

// maxMatch is how far back an occurrence is compared.
const maxMatch = 32

// table maps a hash of a run of tokens to the position behind its last occurrence. It
// forgets older runs of the same hash.
type table struct{ behind []int32 }

// A table has at least twice as many entries as the text has tokens, as far as its
// limit allows: an index takes at most 512 KB.
const (
	leastEntries = 1 << 8
	mostEntries  = 1 << 16
)

// Add adds tokens that were appended to the text since the last call.
func (x *Index) Add(tokens []int32) {
	if size := entries(len(tokens)); size > len(x.long.behind) {
		*x = Index{long: table{make([]int32, size)}, short: table{make([]int32, size)}}
	}
	// A run at the end has no token behind it yet.
	for i := max(x.added, shortRun); i < len(tokens); i++ {
		x.short.put(tokens[i-shortRun:i], i)
		if i >= longRun {
			x.long.put(tokens[i-longRun:i], i)
		}
	}
	x.added = max(x.added, len(tokens))
}

// entries is the size of the tables for a text.
func entries(tokens int) int {
	size := leastEntries
	for size < 2*tokens && size < mostEntries {
		size *= 2
	}
	return size
}

// Guess appends at most most tokens to guess: those that followed the last occurrence
// of the end of tokens and guess. matched is how many tokens occurred there.
func (x *Index) Guess(tokens, guess []int32, most int) (_ []int32, matched int) {
	t := text{tokens, guess}
	at, matched := x.find(t)
	if matched == 0 {
		return guess, 0
	}
	// An occurrence that reaches the end goes on in the guess itself.
	for ; most > 0; most-- {
		token := t.at(at)
		if token < 0 { // of an image
			break
		}
		t.guess = append(t.guess, token)
		at++
	}
	return t.guess, matched
}

// find returns the position behind the last occurrence of the end of t, and how many
// tokens are equal there.
func (x *Index) find(t text) (at, matched int) {
	for _, run := range []struct {
		length int
		table  table
	}{{longRun, x.long}, {shortRun, x.short}} {
		if t.len() <= run.length || len(run.table.behind) == 0 {
			continue
		}
		at := run.table.get(t.end(run.length))
		n := t.match(at)
		if n >= run.length {
			return at, n
		}
	}
	return 0, 0
}

func (t table) put(run []int32, behind int) { t.behind[t.slot(run)] = int32(behind) }

// get returns 0 for a run that was never put.
func (t table) get(run []int32) int { return int(t.behind[t.slot(run)]) }

func (t table) slot(run []int32) uint64 {
	hash := uint64(len(run))
	for _, token := range run {
		hash = (hash ^ uint64(uint32(token))) * 0x9E3779B97F4A7C15
		hash ^= hash >> 29
	}
	return hash & uint64(len(t.behind)-1)
}

// text is tokens and a guess of what follows.
type text struct{ tokens, guess []int32 }

func (t text) len() int { return len(t.tokens) + len(t.guess) }

func (t text) at(i int) int32 {
	if i < len(t.tokens) {
		return t.tokens[i]
	}
	return t.guess[i-len(t.tokens)]
}

// end returns the last n tokens.
func (t text) end(n int) []int32 {
	if len(t.guess) == 0 {
		return t.tokens[len(t.tokens)-n:]
	}
	last := make([]int32, n)
	for i := range last {
		last[i] = t.at(t.len() - n + i)
	}
	return last
}

// match is how many tokens before at equal the last tokens.
func (t text) match(at int) int {
	n := 0
	for n < min(at, maxMatch) && t.at(at-1-n) == t.at(t.len()-1-n) {
		n++
	}
	return n
}
