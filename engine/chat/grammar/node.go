package grammar

// Node is an expression: a set of texts. Nodes are immutable and may be used
// in several places and by several goroutines.
type Node interface{ node() }

type (
	literal struct{ text string }
	class   struct{ ranges []runeRange } // one character; sorted, not overlapping
	seq     struct{ nodes []Node }
	choice  struct{ nodes []Node }
	repeat  struct {
		body     Node
		min, max int // max < 0: no upper bound
	}
	until struct{ markers []string }
	// except is the rest of a member's name, with the closing quote, that is
	// none of the sorted names. A name has one spelling here, so that an
	// escape cannot stand for a letter.
	except struct{ names []string }
	// ref is a call: what makes an expression recursive, and what keeps a
	// part that is used often from being compiled often.
	ref struct{ rule *rule }
)

// rule is a named expression. Its body is set once, before its first
// Compile; a rule without one allows no text.
type rule struct {
	body        Node
	nullable    bool    // the empty text is among the texts of body
	settled     bool    // body is final, and the next is known
	satisfiable bool    // a finite text satisfies it
	source      *source // the schema that it was made for, if any
}

// source is one schema, to which the cost of its rules is charged.
type source struct{ root Node }

// ours returns a reference to a rule of this package, without a schema.
func ours(r *rule) Node {
	settleOurs(r)
	return &ref{r}
}

// settleOurs settles rules of this package, whose bodies are final.
func settleOurs(rules ...*rule) {
	a := newAnalysis(nil)
	for _, r := range rules {
		a.run(&ref{r})
	}
	a.settleRules(rules)
}

// runeRange is a range of characters, both ends included.
type runeRange struct{ lo, hi rune }

func (*literal) node() {}
func (*class) node()   {}
func (*seq) node()     {}
func (*choice) node()  {}
func (*repeat) node()  {}
func (*until) node()   {}
func (*except) node()  {}
func (*ref) node()     {}

// Literal is the text s and no other. The empty literal is the empty text.
func Literal(s string) Node { return &literal{s} }

// Seq is the nodes one after the other. Seq of nothing is the empty text.
func Seq(nodes ...Node) Node {
	if len(nodes) == 1 {
		return nodes[0]
	}
	return &seq{append([]Node(nil), nodes...)}
}

// Choice is any one of the nodes. Choice of nothing allows no text at all,
// not even the empty one.
func Choice(nodes ...Node) Node {
	if len(nodes) == 1 {
		return nodes[0]
	}
	return &choice{append([]Node(nil), nodes...)}
}

// Repeat is n at least min and at most max times; a negative max sets no
// upper bound. Where max < min no text is allowed. Large bounds cost no more
// than small ones.
func Repeat(n Node, min, max int) Node { return &repeat{body: n, min: min, max: max} }

// Optional is n or nothing.
func Optional(n Node) Node { return Repeat(n, 0, 1) }

// Until is any UTF-8 text in which no marker occurs: the text before the
// first marker, where the node behind it begins with that marker's
// [Literal]. An empty marker is ignored; Until of nothing is any text at all.
func Until(markers ...string) Node {
	var list []string
	for _, m := range markers {
		if m != "" {
			list = append(list, m)
		}
	}
	return &until{list}
}

// free is any UTF-8 text at all.
var free = &repeat{body: anyChar, max: -1}

// anyChar is one character of UTF-8 text.
var anyChar = &class{normalize([]runeRange{{0, maxRune}})}

func optional(n Node) Node { return Repeat(n, 0, 1) }

func chars(set string) Node {
	return &class{normalize(rangesOf(set))}
}

func rangesOf(set string) []runeRange {
	var list []runeRange
	for _, r := range set {
		list = append(list, runeRange{r, r})
	}
	return list
}

// charRange is one character from lo to hi; nothing where hi < lo.
func charRange(lo, hi rune) Node { return &class{normalize([]runeRange{{lo, hi}})} }
