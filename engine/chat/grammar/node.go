package grammar

// Node is an expression: a set of texts. Nodes are immutable and may be shared.
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
	// except is the rest of a property name, with the closing quote, that is none of
	// the sorted names. Names are never escaped needlessly, so that an escape cannot
	// stand for a letter.
	except struct{ names []string }
	// ref is a call of a rule. It allows recursion, and compiles a shared part once.
	ref struct{ rule *rule }
)

// rule is a named expression. Its body is set once, before its first Compile; a rule
// without one allows no text.
type rule struct {
	body        Node
	nullable    bool    // body allows the empty text
	settled     bool    // body is final and satisfiable is known
	satisfiable bool    // by a finite text
	source      *source // the schema that it was made for, if any
}

// source is a schema, to which the cost of its rules is charged.
type source struct{ root Node }

// builtin returns a reference to a rule of this package.
func builtin(r *rule) Node {
	settleBuiltin(r)
	return &ref{r}
}

// settleBuiltin settles rules of this package, whose bodies are final.
func settleBuiltin(rules ...*rule) {
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

// Literal is the text s.
func Literal(s string) Node { return &literal{s} }

// Seq is a sequence. Seq of nothing is the empty text.
func Seq(nodes ...Node) Node {
	if len(nodes) == 1 {
		return nodes[0]
	}
	return &seq{append([]Node(nil), nodes...)}
}

// Choice is any of the nodes. Choice of nothing allows no text, not even the empty one.
func Choice(nodes ...Node) Node {
	if len(nodes) == 1 {
		return nodes[0]
	}
	return &choice{append([]Node(nil), nodes...)}
}

// Repeat is n, min to max times; a negative max is no upper bound. If max < min no text
// is allowed. Large bounds cost no more than small ones.
func Repeat(n Node, min, max int) Node { return &repeat{body: n, min: min, max: max} }

// Optional is n or nothing.
func Optional(n Node) Node { return Repeat(n, 0, 1) }

// Until is any UTF-8 text that contains no marker: the text before the first one, if the
// next node starts with its [Literal]. Empty markers are ignored; Until of nothing is
// any text.
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

// charRange is one character from lo to hi; if hi < lo it allows none.
func charRange(lo, hi rune) Node { return &class{normalize([]runeRange{{lo, hi}})} }
