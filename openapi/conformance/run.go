package conformance

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/diglot/diglot/openapi"
)

// Report is the outcome of a run.
type Report struct {
	Results []Result // in the order of the scenarios
	Err     error    // why the run ended early: cancelled, or the server is gone; else nil
}

// Count returns how many scenarios ended so.
func (r Report) Count(o Outcome) int {
	n := 0
	for _, result := range r.Results {
		if result.Outcome == o {
			n++
		}
	}
	return n
}

// Score is the share of passed scenarios among those that passed or failed, in per cent.
func (r Report) Score() float64 {
	pass, fail := r.Count(Pass), r.Count(Fail)
	if pass+fail == 0 {
		return 0
	}
	return 100 * float64(pass) / float64(pass+fail)
}

// Options are those of one run.
type Options struct {
	Parallel int          // scenarios that run at the same time; 0: one
	Progress func(Result) // called for each scenario that ended, one at a time; or nil
}

// Run runs scenarios against a server: first those that may run together, then those that
// run alone, then those that judge the replies of all others.
func Run(ctx context.Context, target *Target, scenarios []Scenario, options Options) Report {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	target.lost = end
	r := &runner{ctx: ctx, target: target, options: options, results: make([]Result, len(scenarios)), offered: map[string]func() string{}}
	var together, alone, watching []int
	for i, s := range scenarios {
		switch {
		case s.watches:
			watching = append(watching, i)
		case s.Alone:
			alone = append(alone, i)
		default:
			together = append(together, i)
		}
		r.availability(s)
	}
	r.all(scenarios, together, max(options.Parallel, 1))
	r.all(scenarios, alone, 1)
	r.feed(scenarios)
	early := context.Cause(ctx)
	r.all(scenarios, watching, 1) // they judge what was seen until then
	return Report{r.results, early}
}

type runner struct {
	ctx     context.Context
	target  *Target
	options Options
	results []Result
	offered map[string]func() string // by style and operation: empty, or why it is not there

	mu sync.Mutex // of progress
}

func (r *runner) all(scenarios []Scenario, chosen []int, parallel int) {
	var group sync.WaitGroup
	next := make(chan int)
	for range min(parallel, len(chosen)) {
		group.Go(func() {
			for i := range next {
				r.one(scenarios[i], i)
			}
		})
	}
	for _, i := range chosen {
		next <- i
	}
	close(next)
	group.Wait()
}

const cancelled = "the run was cancelled"

func (r *runner) one(s Scenario, i int) {
	result := Result{Scenario: s, Outcome: Skipped, Reason: cancelled}
	if r.ctx.Err() == nil || s.watches {
		result.Outcome, result.Reason = NotOffered, r.offered[string(s.Style())+s.Operation]()
		if result.Reason == "" {
			result = run(r.ctx, r.target, s)
		}
		if r.ctx.Err() != nil && !s.watches { // its failures may be those of the cancelled run
			result = Result{Scenario: s, Outcome: Skipped, Reason: cancelled, Duration: result.Duration}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[i] = result
	if r.options.Progress != nil {
		r.options.Progress(result)
	}
}

// availability prepares, for the operation of a scenario, the question whether the server
// has it. It is asked once, and only if a scenario is about to run.
func (r *runner) availability(s Scenario) {
	key := string(s.Style()) + s.Operation
	if r.offered[key] != nil {
		return
	}
	r.offered[key] = func() string { return "" }
	if o, ok := r.target.Document(s.Style()).Operation(s.Operation); ok {
		r.offered[key] = sync.OnceValue(func() string { return r.missing(s.Style(), o) })
	}
}

// missing says why a server does not have an operation, or nothing. A server has it if it
// complains about a body without anything but a model; one that does not answer has it too, which the scenarios
// then find out.
func (r *runner) missing(style Style, o *openapi.Operation) string {
	if o.Mark.Server == openapi.SupportRefused {
		return "the document refuses it in this profile"
	}
	x, err := r.target.once(r.ctx, r.target.smallest(style, o))
	if err != nil || !slices.Contains([]int{404, 405, 501}, x.Status) {
		return ""
	}
	if x.Status == http.StatusNotFound && names(x.Body, []string{"model"}) {
		return "" // it looked for the model
	}
	return fmt.Sprintf("the server answers %s %s with %d %s", o.Method, o.Path, x.Status, http.StatusText(x.Status))
}

// smallest is a request to an operation that names a model and nothing else, so that it need
// not be answered.
func (t *Target) smallest(style Style, o *openapi.Operation) Request {
	r := Request{Method: o.Method, Path: strings.ReplaceAll(o.Path, "{model}", url.PathEscape(t.Models.Text))}
	if o.Body != nil {
		r.Body = t.affordable(o, edited([]byte("{}"), func(body map[string]any) { body["model"] = t.modelFor(o) }), nil, 1)
	}
	if style == Anthropic {
		r.Header = http.Header{"Anthropic-Version": {"2023-06-01"}}
	}
	return r
}

// feed sends requests to the operations of chosen watchers that no chosen scenario asks: the
// examples of the document, once plain and once streamed. They are not in the report.
func (r *runner) feed(scenarios []Scenario) {
	asked := map[operation]bool{}
	for _, s := range scenarios {
		if !s.watches {
			asked[operation{s.Style(), s.Operation}] = true
		}
	}
	for _, s := range scenarios {
		of := operation{s.Style(), s.Operation}
		o, ok := r.target.Document(of.style).Operation(of.id)
		if asked[of] || !ok || r.ctx.Err() != nil || r.offered[string(of.style)+of.id]() != "" {
			continue
		}
		asked[of] = true
		run(r.ctx, r.target, r.target.feeder(of.style, o))
	}
}

func (t *Target) feeder(style Style, o *openapi.Operation) Scenario {
	if o.Body == nil {
		return Scenario{Needs: NeedOf(o), Run: func(t *Trial) { t.Do(t.smallest(style, o)) }}
	}
	s := t.samples(style, o)
	_, streams := o.Body.Schema.Property("stream")
	plain := s.Run
	s.Run = func(t *Trial) {
		for _, example := range o.Examples {
			if streams {
				t.sample(o, edited(example, func(object map[string]any) { object["stream"] = true }))
			}
		}
		plain(t)
	}
	return s
}
