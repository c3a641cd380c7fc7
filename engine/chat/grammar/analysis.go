package grammar

// analysis finds which rules are satisfiable by a finite text. An object that requires a
// property of its own type is not. It starts with nothing satisfiable and propagates
// along the edges of a graph, in linear time.
type analysis struct {
	meter    *meter
	known    map[Node]int32  // vertices of compound nodes
	rules    map[*rule]int32 // vertices of rules
	vertices []vertex
	edges    []edge
	open     []Node  // vertices that were not looked into yet: a node, or nil for
	openRule []*rule // the next of these
	expanded int32   // how many have been looked into
	ready    []int32 // satisfiable, and not told to those that wait
}

// vertex is satisfiable once need is 0.
type vertex struct {
	need    int32 // parts not known to be satisfiable; never: unsatisfiable
	waiting int32 // 1 + first edge to the vertices that depend on it
}

type edge struct{ to, next int32 }

const never = 1 << 30

// A verdict is one of these, or a vertex if it is not known yet.
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

// run expands everything that a node depends on, except settled rules.
func (a *analysis) run(root Node) {
	a.of(root)
	for ; int(a.expanded) < len(a.open); a.expanded++ {
		at := a.expanded
		if n := a.open[at]; n != nil {
			a.expand(at, n)
		} else {
			a.need(at, 1, a.openRule[at].body)
		}
		a.open[at], a.openRule[at] = nil, nil
		a.propagate()
	}
}

// satisfiable is the result for a rule that run has visited.
func (a *analysis) satisfiable(r *rule) bool {
	if r.settled {
		return r.satisfiable
	}
	n, ok := a.rules[r]
	return ok && a.vertices[n].need <= 0
}

// propagate notifies dependents of newly satisfiable vertices.
func (a *analysis) propagate() {
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

// of returns the verdict of a node.
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

// expand adds the dependencies of a node.
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

// settleRules stores the results in rules, whose bodies are final.
func (a *analysis) settleRules(rules []*rule) {
	for _, r := range rules {
		satisfiable := a.satisfiable(r)
		r.settled, r.satisfiable = true, satisfiable
	}
}
