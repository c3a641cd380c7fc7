package sandbox

import (
	"time"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine/chat/template/bounds"
)

// rendering is the state of one execution of a template.
type rendering struct {
	*bounds.Meter
	now     func() time.Time
	natives *natives
	owned   jinja.Value // receiver of the next method
	refused *Refusal
}

// natives are the library's own filters, functions and operations. It does not
// export them, so small templates fetch them.
type natives struct {
	filters    map[string]callable
	functions  map[string]callable
	operations map[string]*jinja.Template
}

type callable = func([]jinja.Value, map[string]jinja.Value) (jinja.Value, error)

// Refusal is the error of a template that calls raise_exception.
type Refusal struct{ Message string }

func (r *Refusal) Error() string { return "the chat template refuses: " + r.Message }
