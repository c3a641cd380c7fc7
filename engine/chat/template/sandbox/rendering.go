package sandbox

import (
	"time"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine/chat/template/bounds"
)

// rendering is the state of one run of a template.
type rendering struct {
	*bounds.Meter
	now     func() time.Time
	natives *natives
	owned   jinja.Value // what the next method is of
	refused *Refusal
}

// natives are the library's own filters, functions and operations. It hands
// them out to templates alone, so small ones are made to get at them.
type natives struct {
	filters    map[string]callable
	functions  map[string]callable
	operations map[string]*jinja.Template
}

type callable = func([]jinja.Value, map[string]jinja.Value) (jinja.Value, error)

// Refusal is what a template said with raise_exception.
type Refusal struct{ Message string }

func (r *Refusal) Error() string { return "the chat template refuses: " + r.Message }
