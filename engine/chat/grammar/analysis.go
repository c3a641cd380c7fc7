package grammar

// analysis finds out which rules a finite text can satisfy, for rules that
// need themselves do not: an object with a required property of the object's
// own type. Nothing is satisfiable at first. What becomes so is told to those
// that wait for it, each of them once, so the work is linear.
type analysis struct {
	meter    *meter
	known    map[Node]int32  // the vertices of nodes that are made of others
	rules    map[*rule]int32 // and those of rules
	vertices []vertex
	edges    []edge
	open     []Node  // vertices that were not looked into yet: a node, or nil for
	openRule []*rule // the next of these
	looked   int32   // how many have been looked into
	ready    []int32 // satisfiable, and not told to those that wait
}

// vertex waits until it needs nothing more.
type vertex struct {
	need    int32 // parts that are not known to be satisfiable; never: it cannot be
	waiting int32 // the first of the edges to those that wait for it, from 1
}

type edge struct{ to, next int32 }

const never = 1 << 30

// verdict is what is known of a part at once: the number of its vertex, or
// one of these.
const (
	satisfied   int32 = -1
	unsatisfied int32 = -2
)

const (
	vertexBytes = 100 // an entry of known or rules; the lists count themselves
	edgeBytes   = 8
)

func newAnalysis(m *meter) *analysis {
	return &analysis{meter: m, known: map[Node]int32{}, rules: map[*rule]int32{}}
}

// run looks into everything that a node needs. Rules that are settled are
// taken at their word.
func (a *analysis) run(root Node) {
	a.of(root)
	for ; int(a.looked) < len(a.open); a.looked++ {
		at := a.looked
		if n := a.open[at]; n != nil {
			a.expand(at, n)
		} else {
			a.need(at, 1, a.openRule[at].body)
		}
		a.open[at], a.openRule[at] = nil, nil
		a.tell()
	}
}

// satisfiable is the result for a rule that run has met.
func (a *analysis) satisfiable(r *rule) bool {
	if r.settled {
		return r.satisfiable
	}
	n, ok := a.rules[r]
	return ok && a.vertices[n].need <= 0
}

// tell passes on what has become satisfiable.
func (a *analysis) tell() {
	for len(a.ready) > 0 {
		at := a.ready[len(a.ready)-1]
		a.ready = a.ready[:len(a.ready)-1]
		for e := a.vertices[at].waiting; e != 0; e = a.edges[e-1].next {
			a.meter.spend(1, 0)
			to := a.edges[e-1].to
			if v := &a.vertices[to]; v.need > 0 && v.need < never {
				if v.need--; v.need == 0 {
					a.ready = append(a.ready, to)
				}
			}
		}
	}
}

// of returns what is known of a node.
func (a *analysis) of(n Node) int32 {
	a.meter.spend(1, 0)
	verdict := satisfied
	switch n := n.(type) {
	case nil:
		return unsatisfied
	case *class:
		if len(n.ranges) == 0 {
			verdict = unsatisfied
		}
	case *ref:
		return a.ofRule(n.rule)
	case *seq, *choice, *repeat:
		at, ok := a.known[n]
		if !ok {
			at = a.vertex(n, nil)
			a.known[n] = at
		}
		return a.verdict(at)
	}
	return verdict
}

func (a *analysis) ofRule(r *rule) int32 {
	switch {
	case r.settled && r.satisfiable:
		return satisfied
	case r.settled:
		return unsatisfied
	}
	at, ok := a.rules[r]
	if !ok {
		at = a.vertex(nil, r)
		a.rules[r] = at
	}
	return a.verdict(at)
}

func (a *analysis) vertex(n Node, r *rule) int32 {
	a.meter.spend(2, vertexBytes)
	a.vertices = append(grown(a.meter, a.vertices, 8), vertex{need: never - 1}) // until it is looked into
	a.open, a.openRule = append(grown(a.meter, a.open, 16), n), append(grown(a.meter, a.openRule, 8), r)
	return int32(len(a.vertices) - 1)
}

func (a *analysis) verdict(at int32) int32 {
	switch need := a.vertices[at].need; {
	case need <= 0:
		return satisfied
	case need == never:
		return unsatisfied
	}
	return at
}

// expand looks into a node.
func (a *analysis) expand(at int32, n Node) {
	switch n := n.(type) {
	case *seq:
		a.need(at, len(n.nodes), n.nodes...)
	case *choice:
		a.need(at, 1, n.nodes...)
	case *repeat:
		switch {
		case n.max >= 0 && n.max < n.min:
			a.vertices[at].need = never
		case n.min <= 0:
			a.of(n.body) // to be looked into all the same
			a.need(at, 0)
		default:
			a.need(at, 1, n.body)
		}
	}
}

// need makes a vertex wait for so many of its parts.
func (a *analysis) need(at int32, count int, parts ...Node) {
	need := int32(count)
	left := int32(len(parts)) // that may still become satisfiable
	for _, part := range parts {
		switch verdict := a.of(part); verdict {
		case satisfied:
			need--
		case unsatisfied:
			left--
		default:
			a.meter.spend(1, 0)
			a.edges = append(grown(a.meter, a.edges, edgeBytes), edge{at, a.vertices[verdict].waiting})
			a.vertices[verdict].waiting = int32(len(a.edges))
		}
	}
	switch {
	case need <= 0:
		a.vertices[at].need = 0
		a.ready = append(a.ready, at)
	case left < int32(count): // not enough parts are left
		a.vertices[at].need = never
	default:
		a.vertices[at].need = need
	}
}

// settleRules notes in rules, whose bodies are final, what was found out
// about them.
func (a *analysis) settleRules(rules []*rule) {
	for _, r := range rules {
		satisfiable := a.satisfiable(r)
		r.settled, r.satisfiable = true, satisfiable
	}
}
