package value

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/diglot/diglot/engine/chat/grammar"
)

// Limits of one value.
const (
	maxSteps  = 60_000 // questions to the grammar, of all attempts
	maxTry    = 15_000 // of one attempt
	maxDepth  = 24     // of nesting
	fullDepth = 3      // up to it, optional properties and items are written
	maxOwn    = 64     // members that the schema does not name, and items beyond those it wants
	maxBytes  = 64 << 10
)

// writer writes one value once.
type writer struct {
	random *rand.Rand
	vary   bool // not the first attempt: shuffle what there is a choice of
	steps  int
	most   int // steps
}

// place is where a text has got to. It is a value: a writer that takes one back has undone
// what came after it.
type place struct {
	text    []byte
	matcher *grammar.Matcher
}

// put appends text, if the grammar allows it.
func (w *writer) put(p place, text string) (place, bool) {
	if w.steps++; w.steps > w.most || len(p.text)+len(text) > maxBytes || !p.matcher.Allows([]byte(text)) {
		return p, false
	}
	m := p.matcher.Clone()
	if !m.Accept([]byte(text)) { // it has given up
		return p, false
	}
	return place{append(slices.Clip(p.text), text...), m}, true
}

// ends reports whether a value may end here: a number could go on.
func ends(p place) bool {
	if p.matcher.Complete() {
		return true
	}
	for _, next := range []string{",", "}", "]", " ", "\n", "<"} {
		if p.matcher.Allows([]byte(next)) {
			return true
		}
	}
	return false
}

// try puts the first of the texts that is a whole value there.
func (w *writer) try(p place, texts []string) (place, bool) {
	if w.vary {
		texts = slices.Clone(texts)
		w.random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	}
	for _, text := range texts {
		if next, ok := w.put(p, text); ok && ends(next) {
			return next, true
		}
	}
	return p, false
}

// field is what a value is for: the name of its property, and which item it is.
type field struct {
	name  string
	turn  int
	depth int
}

// value writes one value.
func (w *writer) value(p place, h hints, f field) (place, bool) {
	if f.depth > maxDepth || w.steps > w.most {
		return p, false
	}
	if constants := h.constants(); len(constants) > 0 && !(w.vary && w.random.IntN(3) == 0) {
		i := f.turn % len(constants) // items differ, if they can
		if next, ok := w.try(p, slices.Concat(constants[i:], constants[:i])); ok {
			return next, true
		}
	}
	types := h.types()
	if f.depth > fullDepth { // an end first
		slices.SortStableFunc(types, func(a, b string) int { return rank(a) - rank(b) })
	} else if w.vary && w.random.IntN(3) == 0 {
		i := w.random.IntN(len(types))
		types[0], types[i] = types[i], types[0]
	}
	for _, kind := range types {
		if next, ok := w.typed(p, h, f, kind); ok {
			return next, true
		}
	}
	return p, false
}

// rank sorts types by how surely they end.
func rank(kind string) int {
	return slices.Index([]string{"null", "boolean", "integer", "number", "string", "array", "object"}, kind)
}

func (w *writer) typed(p place, h hints, f field, kind string) (place, bool) {
	switch kind {
	case "null":
		return w.try(p, []string{"null"})
	case "boolean":
		return w.try(p, []string{"true", "false"})
	case "integer", "number":
		return w.number(p, h, f)
	case "string":
		return w.string(p, h, f)
	case "array":
		return w.array(p, h, f)
	case "object":
		return w.object(p, h, f)
	}
	return p, false
}

func (w *writer) number(p place, h hints, f field) (place, bool) {
	turn := f.turn
	if w.vary {
		turn += w.random.IntN(50)
	}
	if next, ok := w.try(p, h.numbers(turn)); ok {
		return next, true
	}
	return w.spell(p, digits, func(next place) bool { return len(next.text) > len(p.text) && ends(next) })
}

func (w *writer) string(p place, h hints, f field) (place, bool) {
	turn := f.turn
	if w.vary {
		turn += w.random.IntN(50)
	}
	var texts []string
	for _, s := range h.texts(f.name, turn) {
		texts = append(texts, string(appendString(nil, s)))
	}
	if next, ok := w.try(p, texts); ok {
		return next, true
	}
	start, ok := w.put(p, `"`)
	if !ok {
		return p, false
	}
	inner, ok := w.spell(start, letters, func(p place) bool { return len(p.text) > len(start.text) && closes(p, `"`) })
	if !ok {
		inner = start // perhaps the empty string
	}
	return w.put(inner, `"`)
}

// closes reports whether a string may end here: a quote after a backslash is part of it.
func closes(p place, end string) bool { return !escapes(p.text) && p.matcher.Allows([]byte(end)) }

// escapes reports whether the next character is escaped.
func escapes(text []byte) bool {
	return (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 1
}

// letters are the characters of spelled strings, the likely ones first.
const letters = `abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_ .,:;/@+*()[]{}<>!?#$%&=~^|'` + "`" + `\"`

// digits are the characters of spelled numbers.
const digits = "0123456789-."

// Limits of spelling.
const (
	maxSpelled = 512 // characters
	spellings  = 6   // attempts
)

// spell writes characters until done allows an end: those of the alphabet, else, in a
// string, any.
func (w *writer) spell(p place, alphabet string, done func(place) bool) (place, bool) {
	for range spellings {
		next := p
		for range maxSpelled {
			if done(next) {
				return next, true
			}
			at, ok := w.character(next, alphabet)
			if !ok {
				break
			}
			next = at
		}
	}
	return p, false
}

// character writes a random character of the alphabet, or else any byte. The first one
// found from a random point on is near enough to random.
func (w *writer) character(p place, alphabet string) (place, bool) {
	from := w.random.IntN(len(alphabet))
	for i := range len(alphabet) {
		c := alphabet[(from+i)%len(alphabet)]
		if c == '"' {
			continue // it would end the string
		}
		if next, ok := w.put(p, string(c)); ok {
			return next, true
		}
	}
	if alphabet == digits {
		return p, false
	}
	from = w.random.IntN(256)
	for i := range 256 {
		c := byte(from + i)
		if c == '"' && !escapes(p.text) {
			continue
		}
		if next, ok := w.put(p, string([]byte{c})); ok {
			return next, true
		}
	}
	return p, false
}

func (w *writer) array(p place, h hints, f field) (place, bool) {
	start, ok := w.put(p, "[")
	if !ok {
		return p, false
	}
	least := int(min(h.most("minItems", 0), maxText))
	wanted := least
	if f.depth <= fullDepth {
		wanted = max(least, 1)
		if w.vary {
			wanted += w.random.IntN(3)
		}
	}
	next := start
	for i := range wanted + maxOwn {
		if i >= wanted {
			if end, ok := w.put(next, "]"); ok {
				return end, true
			}
		}
		at, ok := next, true
		if i > 0 {
			at, ok = w.put(next, ", ")
		}
		if ok {
			at, ok = w.value(at, h.item(i), field{name: f.name, turn: i, depth: f.depth + 1})
		}
		if !ok {
			return w.put(next, "]")
		}
		next = at
	}
	return p, false
}

func (w *writer) object(p place, h hints, f field) (place, bool) {
	start, ok := w.put(p, "{")
	if !ok {
		return p, false
	}
	optional := f.depth <= fullDepth
	for range 2 { // with the optional properties the second time, if it takes them
		o := object{w: w, h: h, f: f, at: start}
		o.named(optional)
		if end, ok := w.put(o.at, "}"); ok {
			return end, true
		}
		if o.others() {
			return w.put(o.at, "}")
		}
		optional = true
	}
	return p, false
}

// object is an object that is being written.
type object struct {
	w     *writer
	h     hints
	f     field
	at    place
	count int
}

// named writes the properties of the schema. One that does not fit is left out, in the
// hope that it may be.
func (o *object) named(optional bool) {
	for _, name := range o.h.properties() {
		wanted := o.h.requires(name) || optional && !(o.w.vary && o.w.random.IntN(3) == 0)
		if wanted {
			o.member(name)
		}
	}
}

// others writes members that the schema does not name, until the object may end.
func (o *object) others() bool {
	for i := range maxOwn {
		if _, ok := o.w.put(o.at, "}"); ok {
			return true
		}
		name := "key" + strconv.Itoa(i+1)
		if !o.member(name) && !o.spelled() {
			return false
		}
	}
	return false
}

func (o *object) separator() string {
	if o.count == 0 {
		return ""
	}
	return ", "
}

func (o *object) member(name string) bool {
	at, ok := o.w.put(o.at, o.separator()+string(appendString(nil, name))+": ")
	return ok && o.finish(at, name)
}

// spelled writes a member whose name the grammar restricts.
func (o *object) spelled() bool {
	start, ok := o.w.put(o.at, o.separator()+`"`)
	if !ok {
		return false
	}
	at, ok := o.w.spell(start, letters, func(p place) bool { return len(p.text) > len(start.text) && p.matcher.Allows([]byte(`": `)) })
	if !ok {
		return false
	}
	name := string(at.text[len(start.text):])
	at, ok = o.w.put(at, `": `)
	return ok && o.finish(at, name)
}

func (o *object) finish(at place, name string) bool {
	at, ok := o.w.value(at, o.h.property(name), field{name: name, turn: 0, depth: o.f.depth + 1})
	if !ok {
		return false
	}
	o.at, o.count = at, o.count+1
	return true
}
