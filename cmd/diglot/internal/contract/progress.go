package contract

import (
	"fmt"
	"io"

	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/openapi/conformance"
)

// progress shows how far a run is: one line that changes on a terminal, else a line for
// each tenth.
type progress struct {
	w                    io.Writer
	live                 bool
	all, done, bad, last int
}

func newProgress(w io.Writer, all int) *progress {
	return &progress{w: w, live: terminal.Is(w), all: all}
}

// add counts a result.
func (p *progress) add(r conformance.Result) {
	p.done++
	if r.Outcome == conformance.Fail {
		p.bad++
	}
	line := fmt.Sprintf("%d of %d scenarios, %d failed", p.done, p.all, p.bad)
	if p.live {
		fmt.Fprintf(p.w, "\r\x1b[K%.79s", line+"  "+terminal.Plain(r.Name))
		return
	}
	if tenth := p.done * 10 / p.all; tenth > p.last {
		p.last = tenth
		fmt.Fprintln(p.w, line)
	}
}

func (p *progress) end() {
	if p.live {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
