package conformance

import (
	"cmp"
	"context"
	"slices"

	"github.com/diglot/diglot/openapi"
)

// operation names one of either document: both have a listModels.
type operation struct {
	style Style
	id    string
}

// record is what the replies of one operation have shown so far. The exchanges are not in
// it, only those that show a deviation: a run has thousands, some of them of megabytes.
type record struct {
	deviations map[deviationKey]*deviation
}

type deviationKey struct {
	aspect string
	key    string
}

// deviation is a finding and the smallest exchange that shows it.
type deviation struct {
	finding
	exchange          *Exchange
	requests, replies int // sizes of the bodies
}

// deviations are those of an aspect so far. sent reports whether the operation was asked for.
func (t *Target) deviations(o operation, a aspect) (all []*deviation, sent bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, sent := t.seen[o]
	if !sent {
		return nil, false
	}
	return r.of(a), true
}

// of lists the deviations of an aspect, those of the smallest exchanges first.
func (r *record) of(a aspect) []*deviation {
	var all []*deviation
	for _, d := range r.deviations {
		if d.aspect == a {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b *deviation) int {
		return cmp.Or(cmp.Compare(a.requests, b.requests), cmp.Compare(a.replies, b.replies), cmp.Compare(a.key, b.key))
	})
	return all
}

// full reports whether there are enough deviations of an aspect.
func (r *record) full(a aspect) bool { return len(r.of(a)) >= maxFailures }

// observe judges a reply, once and for all aspects, in no more than the time for a request.
func (t *Target) observe(ctx context.Context, x *Exchange) {
	style, o := t.operationOf(x)
	if o == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, t.timeout())
	defer cancel()
	found := judge(ctx, o, x)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil {
		t.seen = map[operation]*record{}
	}
	r := t.seen[operation{style, o.ID}]
	if r == nil {
		r = &record{deviations: map[deviationKey]*deviation{}}
		t.seen[operation{style, o.ID}] = r
	}
	var kept *Exchange
	for _, f := range found {
		key := deviationKey{f.aspect.name, f.key}
		old := r.deviations[key]
		if old == nil && r.full(f.aspect) || old != nil && !smaller(x, old) {
			continue
		}
		if kept == nil {
			kept = t.keep(x)
		}
		r.deviations[key] = &deviation{f, kept, len(x.Request), len(x.Body)}
	}
}

func smaller(x *Exchange, than *deviation) bool {
	return cmp.Or(cmp.Compare(len(x.Request), than.requests), cmp.Compare(len(x.Body), than.replies)) < 0
}

const (
	keptBody  = 32 << 10 // of a request or a reply that shows a failure
	leastBody = 1 << 10  // of each, after the run has kept so much:
	keptAll   = 64 << 20
)

// keep is an exchange without the rest of long bodies, to be shown after the run. t.mu is held.
func (t *Target) keep(x *Exchange) *Exchange {
	if x == nil {
		return nil
	}
	most := keptBody
	if t.kept > keptAll {
		most = leastBody
	}
	short := x.Start(most)
	t.kept += len(short.Request) + len(short.Body)
	return short
}

// operationOf is the operation of an exchange: for a path that both styles have, the
// Anthropic one if the request has a version header.
func (t *Target) operationOf(x *Exchange) (Style, *openapi.Operation) {
	document, ok := t.Documents.ForPath(x.Path)
	if !ok {
		document = t.Documents.OpenAI
		if x.Sent.Get("Anthropic-Version") != "" {
			document = t.Documents.Anthropic
		}
	}
	style := OpenAI
	if document == t.Documents.Anthropic {
		style = Anthropic
	}
	o, ok := document.Match(x.Method, x.Path)
	if !ok {
		return style, nil
	}
	return style, o
}
