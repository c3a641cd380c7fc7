package conformance

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/diglot/diglot/openapi"
)

// Style is one of the two API styles.
type Style string

// The styles.
const (
	OpenAI    Style = "openai"
	Anthropic Style = "anthropic"
)

// Scenario is one promise of a server, and how to test it.
type Scenario struct {
	Name      string // style/subject/promise: openai/chat/stop-strings-never-show
	About     string // the promise as a sentence
	Operation string // operationId, for links and for servers without it; empty: none in particular
	Needs     Need   // the model
	Alone     bool   // no other scenario runs meanwhile
	Run       func(*Trial)

	watches bool // it judges the replies of other scenarios
}

// Style returns the style in the scenario's name.
func (s Scenario) Style() Style {
	name, _, _ := strings.Cut(s.Name, "/")
	return Style(name)
}

// Need is what a scenario needs of a model.
type Need string

// The kinds of models.
const (
	NeedNothing   Need = ""
	NeedText      Need = "a text model"
	NeedEmbedding Need = "an embedding model"
	NeedImage     Need = "an image model"
	NeedVision    Need = "a vision model"
)

func (m Models) has(n Need) bool {
	switch n {
	case NeedText:
		return m.Text != ""
	case NeedEmbedding:
		return m.Embedding != ""
	case NeedImage:
		return m.Image != ""
	case NeedVision:
		return m.Vision != ""
	}
	return true
}

// Outcome is how a scenario ended.
type Outcome string

// The closed list of outcomes.
const (
	Pass       Outcome = "pass"
	Fail       Outcome = "fail"
	Skipped    Outcome = "skipped"     // it could not be tested; Result.Reason says why
	NotOffered Outcome = "not offered" // the server says itself that it does not have this
)

// Failure is one broken promise.
type Failure struct {
	Message  string    // what is wrong
	Document string    // what the document says; empty if the scenario says it
	Exchange *Exchange // that shows it; nil: none was completed
	Stack    string    // of the kit itself, which could not read a reply; empty otherwise
}

// Result is what became of a scenario.
type Result struct {
	Scenario
	Outcome  Outcome
	Reason   string // for Skipped and NotOffered
	Failures []Failure
	Duration time.Duration
}

// Trial is one run of a scenario. Its methods may be called by several goroutines, but
// those that end the run only by the one that runs the scenario.
type Trial struct {
	*Target
	ctx      context.Context
	result   *Result
	last     *Exchange
	failures chan Failure
}

// ended is the panic that ends a run early; run recovers it.
type ended struct{}

// Context ends with the run.
func (t *Trial) Context() context.Context { return t.ctx }

// Do sends a request and reads the reply. A server that does not answer ends the run.
func (t *Trial) Do(r Request) *Exchange {
	x, err := t.Try(r)
	if err != nil {
		t.Fatalf(x, "no reply: %v", err)
	}
	t.last = x
	return x
}

// Try is Do for any goroutine: it returns what keeps the server from answering.
func (t *Trial) Try(r Request) (*Exchange, error) { return t.send(t.ctx, r) }

// Last is the exchange of the last Do.
func (t *Trial) Last() *Exchange { return t.last }

// OK is Do for requests that must succeed: any status but 200 ends the run. It ends too,
// before anything is sent, if the profile refuses a field of the request.
func (t *Trial) OK(r Request) *Exchange {
	if field := t.refused(r); field != "" {
		t.NotOfferedf("the document refuses %s in this profile", field)
	}
	x := t.Do(r)
	if x.Status != 200 {
		t.Fatalf(x, "status %d, want 200", x.Status)
	}
	if x.Err != nil {
		t.Fatalf(x, "the reply breaks off: %v", x.Err)
	}
	return x
}

// refused is a field of a request that the document of its path refuses; or empty.
func (t *Trial) refused(r Request) string {
	document, ok := t.Documents.ForPath(r.Path)
	if !ok {
		return ""
	}
	o, ok := document.Match(r.method(), r.Path)
	body, err := r.encode()
	if !ok || o.Body == nil || err != nil {
		return ""
	}
	if _, v := o.Check(body); v != nil && v.Rule == openapi.RuleRefused {
		return v.Param()
	}
	return ""
}

// Open sends a request and leaves the reply's body to the caller, who closes it. It is for any
// goroutine, and bounded by its context alone.
func (t *Trial) Open(ctx context.Context, r Request) (io.ReadCloser, *Exchange, error) {
	response, x, err := t.open(ctx, r)
	if err != nil {
		return nil, x, err
	}
	return response.Body, x, nil
}

// Errorf reports a failure that the exchange shows; the run goes on.
func (t *Trial) Errorf(x *Exchange, format string, args ...any) {
	t.fail(Failure{Message: fmt.Sprintf(format, args...), Exchange: x})
}

// maxFailures is how many failures of one scenario are kept.
const maxFailures = 20

func (t *Trial) fail(f Failure) {
	t.mu.Lock()
	f.Exchange = t.keep(f.Exchange)
	t.mu.Unlock()
	select {
	case t.failures <- f:
	default: // enough of them
	}
}

// Fatalf reports a failure and ends the run.
func (t *Trial) Fatalf(x *Exchange, format string, args ...any) {
	t.Errorf(x, format, args...)
	panic(ended{})
}

// Skipf ends the run of a scenario that cannot be tested on this model.
func (t *Trial) Skipf(format string, args ...any) {
	t.end(Skipped, fmt.Sprintf(format, args...))
}

// NotOfferedf ends the run of a scenario that the server says it does not have.
func (t *Trial) NotOfferedf(format string, args ...any) {
	t.end(NotOffered, fmt.Sprintf(format, args...))
}

func (t *Trial) end(o Outcome, reason string) {
	t.result.Outcome, t.result.Reason = o, reason
	panic(ended{})
}

// run runs a scenario.
func run(ctx context.Context, target *Target, s Scenario) (r Result) {
	r = Result{Scenario: s, Outcome: Pass}
	if !target.Models.has(s.Needs) {
		r.Outcome, r.Reason = Skipped, "it needs "+string(s.Needs)+", and none is named"
		return r
	}
	begin := time.Now()
	t := &Trial{Target: target, ctx: ctx, result: &r, failures: make(chan Failure, maxFailures)}
	func() {
		defer func() {
			if cause := recover(); cause != nil && cause != (ended{}) { // a fault of the kit, which must not end the run
				t.fail(Failure{Message: fmt.Sprintf("the kit could not read this reply: %v", cause), Exchange: t.last, Stack: string(debug.Stack())})
			}
		}()
		s.Run(t)
	}()
	close(t.failures)
	for f := range t.failures {
		r.Failures = append(r.Failures, f)
	}
	if len(r.Failures) > 0 {
		r.Outcome, r.Reason = Fail, ""
	}
	r.Duration = time.Since(begin)
	return r
}

// Document returns the document of a style.
func (t *Target) Document(s Style) *openapi.Document {
	if s == Anthropic {
		return t.Documents.Anthropic
	}
	return t.Documents.OpenAI
}
