package report

import (
	"fmt"
	"net/http"
	"strings"

	units "github.com/docker/go-units"

	"github.com/diglot/diglot/openapi/conformance"
)

func size(n int) string { return units.HumanSize(float64(n)) }

// shown is a failure as text.
type shown struct {
	Message  string
	Document string // what the document says
	Curl     string // the request; empty: none was completed
	Status   string
	Reply    string
}

// show makes a failure's text, with bodies of at most so many bytes.
func (s Summary) show(f conformance.Failure, most int) shown {
	out := shown{Message: cut(s.clean(f.Message), most), Document: cut(s.clean(f.Document), most)}
	x := f.Exchange
	if x == nil {
		return out
	}
	out.Curl = cut(s.clean(x.Curl()), most)
	if x.Status != 0 {
		out.Status = strings.TrimSpace(fmt.Sprintf("%d %s", x.Status, http.StatusText(x.Status)))
		if mediaType := x.MediaType(); mediaType != "" {
			out.Status += ", " + s.clean(mediaType)
		}
	}
	out.Reply = cut(strings.TrimRight(s.clean(string(x.Body)), "\n"), most)
	if x.Err != nil {
		out.Reply = strings.TrimPrefix(out.Reply+"\n", "\n") + "(the reply breaks off: " + s.clean(x.Err.Error()) + ")"
	}
	return out
}

// block is a failure as lines, for outputs without markup.
func (f shown) block() string {
	var b strings.Builder
	fmt.Fprintln(&b, f.Message)
	if f.Document != "" {
		fmt.Fprintf(&b, "document: %s\n", f.Document)
	}
	if f.Curl != "" {
		fmt.Fprintln(&b, f.Curl)
	}
	if f.Status != "" {
		fmt.Fprintln(&b, f.Status)
	}
	if f.Reply != "" {
		fmt.Fprintln(&b, f.Reply)
	}
	return b.String()
}
