package grammar

import (
	"regexp/syntax"
	"slices"
)

// shape returns the JSON texts of the values that satisfy s.
func (r *reader) shape(s *shape) (Node, error) {
	if len(s.enums) > 0 {
		return r.enum(s)
	}
	types := s.types
	if !s.typed && s.implied != 0 {
		types &= s.implied
	}
	var nodes []Node
	for _, row := range []struct {
		set  typeSet
		node func(*shape) (Node, error)
	}{
		{typeObject, r.object},
		{typeArray, r.array},
		{typeString, r.str},
		{typeNumber, r.number},
		{typeBoolean, func(*shape) (Node, error) { return jsonTypes.boolean, nil }},
		{typeNull, func(*shape) (Node, error) { return jsonTypes.null, nil }},
	} {
		if types&row.set == 0 {
			continue
		}
		n, err := row.node(s)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return Choice(nodes...), nil
}

// enum returns the listed values that satisfy the rest of s.
func (r *reader) enum(s *shape) (Node, error) {
	values := r.listed(s)
	if s.implied == 0 {
		return r.valuesNode(values), nil
	}
	rest := *s
	rest.enums, rest.typed = nil, true // a keyword for strings does not exclude numbers
	node, err := r.shape(&rest)
	if err != nil {
		return nil, err
	}
	r.meter.spend(1, ruleSize)
	listed := &rule{source: r.source}
	r.made = append(r.made, listed)
	r.deferred = append(r.deferred, func() error {
		fit, err := r.fitting(values, node)
		listed.body = r.valuesNode(fit)
		return err
	})
	return &ref{listed}, nil
}

// listed are the values in all enums, of the types of s.
func (r *reader) listed(s *shape) []*tree {
	values := make([]*tree, 0, len(s.enums[0]))
	r.meter.spend(len(s.enums[0]), 8*len(s.enums[0]))
	for _, v := range s.enums[0] {
		if s.types == anyType || v.types(r.meter)&s.types != 0 {
			values = append(values, v)
		}
	}
	var key []byte
	for _, other := range s.enums[1:] {
		there := make(map[string]bool, len(other))
		for _, v := range other {
			if id, ok := v.identity(r.meter, key[:0]); ok {
				r.meter.spend(1, setEntryBytes+len(id))
				there[string(id)] = true
				key = id
			}
		}
		values = slices.DeleteFunc(values, func(v *tree) bool {
			id, ok := v.identity(r.meter, key[:0])
			key = id
			return !ok || !there[string(id)]
		})
	}
	return values
}

// fitting are the values that a node allows.
func (r *reader) fitting(values []*tree, node Node) ([]*tree, error) {
	c := newCompiler(r.meter)
	c.analysis = newAnalysis(r.meter)
	c.analysis.run(node)
	g, err := c.compile(node)
	if err != nil {
		return nil, nil // no value satisfies the rest
	}
	r.meter.spend(1, 1024+8*len(g.member))
	m := g.matcher(r.meter)
	r.meter.spend(len(values), 16*len(values))
	var fit []*tree
	for _, v := range values {
		m.fuel = maxFuel // the meter limits the work
		if m.whole(v.appendJSON(r.meter, nil)) {
			fit = append(fit, v)
		}
		if m.Err() != nil {
			return nil, r.tooLarge()
		}
	}
	return fit, nil
}

func (r *reader) valuesNode(values []*tree) Node {
	r.meter.spend(len(values), 40*len(values))
	nodes := make([]Node, len(values))
	for i, v := range values {
		nodes[i] = v.node(r.meter)
	}
	return Choice(nodes...)
}

// types is the type of a value. 1.0 is an integer.
func (t *tree) types(m *meter) typeSet {
	switch t.kind {
	case kindBool:
		return typeBoolean
	case kindString:
		return typeString
	case kindArray:
		return typeArray
	case kindObject:
		return typeObject
	case kindNumber:
		if d, err := t.decimal(m); err == nil && d.fraction == "" {
			return typeInteger
		}
		return typeFraction
	}
	return typeNull
}

func (r *reader) number(s *shape) (Node, error) {
	if s.low != nil && s.high != nil {
		c := s.low.value.compare(s.high.value)
		if c > 0 || c == 0 && (s.low.exclusive || s.high.exclusive) {
			return nil, s.high.schema.wrong("The minimum of a number is above its maximum.")
		}
	}
	whole := s.types&typeFraction == 0
	switch {
	case s.low != nil || s.high != nil:
		return r.numberRange(s.low, s.high, whole), nil
	case whole:
		return jsonTypes.integer, nil
	}
	return jsonTypes.number, nil
}

// stringPattern returns the contents of a JSON string with patterns.
func (r *reader) stringPattern() pattern {
	if r.chars == nil {
		r.chars = map[string]Node{}
	}
	return pattern{plainChars, r.meter, r.chars}
}

func (r *reader) str(s *shape) (Node, error) {
	least, most := s.minLength.or(0), s.maxLength.or(-1)
	if most >= 0 && least > most {
		return nil, s.maxLength.schema.wrong("minLength is above maxLength.")
	}
	if len(s.patterns) > 0 {
		return r.patternString(s)
	}
	if s.minLength != nil || s.maxLength != nil {
		return quoted(Repeat(stringChar, least, most)), nil
	}
	if n, ok := formats[s.format]; ok {
		return n, nil
	}
	return jsonTypes.str, nil
}

// patternString enforces the first pattern, and the lengths if possible.
func (r *reader) patternString(s *shape) (Node, error) {
	for _, other := range s.patterns[1:] {
		r.meter.spend(1+len(other.schema.get("pattern").text)/4, 0)
		if !other.re.Equal(s.patterns[0].re) {
			r.issue(other.schema, "pattern")
		}
	}
	re := s.patterns[0].re
	shortest, longest := lengths(re)
	r.meter.spend(1, 200)
	whole := anchoredBody(re)
	if whole == nil {
		longest = -1
	} else if n := r.repeated(whole, s); n != nil {
		return quoted(n), nil
	}
	if s.minLength != nil && s.minLength.n > shortest {
		r.issue(s.minLength.schema, "minLength")
	}
	if s.maxLength != nil && (longest < 0 || s.maxLength.n < longest) {
		r.issue(s.maxLength.schema, "maxLength")
	}
	return quoted(s.patterns[0].inner), nil
}

// anchoredBody returns the expression between ^ and $, or nil if re is not anchored at
// both ends.
func anchoredBody(re *syntax.Regexp) []*syntax.Regexp {
	n := len(re.Sub)
	if re.Op != syntax.OpConcat || n < 2 || re.Sub[0].Op != syntax.OpBeginText || re.Sub[n-1].Op != syntax.OpEndText {
		return nil
	}
	return re.Sub[1 : n-1]
}

// repeated applies the lengths of s to a repetition of a single character. It returns
// nil for other expressions.
func (r *reader) repeated(parts []*syntax.Regexp, s *shape) Node {
	if len(parts) != 1 {
		return nil
	}
	n, err := r.stringPattern().node(parts[0])
	if err != nil {
		return nil
	}
	loop, ok := n.(*repeat)
	if !ok || !isChar(parts[0].Sub[0]) {
		return nil
	}
	least, most := max(loop.min, s.minLength.or(0)), loop.max
	if s.maxLength != nil && (most < 0 || s.maxLength.n < most) {
		most = s.maxLength.n
	}
	return Repeat(loop.body, least, most)
}

// isChar reports whether re matches exactly one character.
func isChar(re *syntax.Regexp) bool {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	switch re.Op {
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpLiteral:
		return len(re.Rune) == 1
	}
	return false
}

func (r *reader) array(s *shape) (Node, error) {
	least, most := s.minItems.or(0), s.maxItems.or(-1)
	if most >= 0 && least > most {
		return nil, s.maxItems.schema.wrong("minItems is above maxItems.")
	}
	r.meter.spend(1, 600)
	prefix, open := 0, true // open: items after the prefix are allowed
	for _, part := range s.arrays {
		prefix = max(prefix, len(part.prefix))
		open = open && (part.prefix == nil || part.items != nil)
	}
	if prefix > maxNamed {
		return nil, r.tooLarge()
	}
	if most < 0 && !open {
		most = max(prefix, least)
	}
	if most >= 0 {
		prefix = min(prefix, most)
	}
	rest := most
	if most >= 0 {
		rest = most - prefix
	}
	item := Seq(r.value(r.itemAt(s, prefix)), Whitespace())
	if prefix == 0 {
		return braces('[', ']', list(item, least, most)), nil
	}
	tail := Repeat(Seq(comma(), item), max(least-prefix, 0), rest)
	for i := prefix - 1; i >= 0; i-- {
		tail = Seq(r.value(r.itemAt(s, i)), Whitespace(), tail)
		if i > 0 {
			tail = Seq(comma(), tail)
		}
		if i >= least {
			tail = optional(tail)
		}
	}
	return braces('[', ']', tail), nil
}

// itemAt lists the schemas of an item.
func (r *reader) itemAt(s *shape, i int) []*tree {
	r.meter.spend(1+len(s.arrays), 300+8*len(s.arrays))
	all := make([]*tree, 0, len(s.arrays))
	for _, part := range s.arrays {
		switch {
		case i < len(part.prefix):
			all = append(all, part.prefix[i])
		case part.items != nil:
			all = append(all, part.items)
		}
	}
	return all
}
