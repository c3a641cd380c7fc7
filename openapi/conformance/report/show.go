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
	Stack    string // of the kit, if it could not read the reply
}

// show makes a failure's text, with bodies of at most so many bytes.
func (s Summary) show(f conformance.Failure, most int) shown {
	out := shown{Message: s.start([]byte(f.Message), most, 0), Document: s.start([]byte(f.Document), most, 0), Stack: s.clean(f.Stack)}
	x := f.Exchange
	if x == nil {
		return out
	}
	sent := *x
	sent.Request = s.head(x.Request, most, x.RequestSize > 0)
	curl := s.clean(sent.Curl())
	if whole := max(x.RequestSize, len(x.Request)); whole > len(sent.Request) {
		out.Curl = cut(curl, most, len(curl)-len(sent.Request)+whole)
	} else {
		out.Curl = cut(curl, most, 0)
	}
	if x.Status != 0 {
		out.Status = strings.TrimSpace(fmt.Sprintf("%d %s", x.Status, http.StatusText(x.Status)))
		if mediaType := x.MediaType(); mediaType != "" {
			out.Status += ", " + s.clean(mediaType)
		}
	}
	out.Reply = strings.TrimRight(s.start(x.Body, most, x.BodySize), "\n")
	if x.Err != nil {
		out.Reply = strings.TrimPrefix(out.Reply+"\n", "\n") + "(the reply breaks off: " + s.clean(x.Err.Error()) + ")"
	}
	return out
}

// start is the start of a text of a server, of which there may have been more, for people.
func (s Summary) start(text []byte, most, whole int) string {
	short := s.head(text, most, whole > 0)
	if len(short) == len(text) && whole == 0 {
		return cut(s.clean(string(short)), most, 0)
	}
	return cut(s.clean(string(short)), most, max(len(text), whole))
}

// block is a failure as lines, for outputs without markup. Those of a server's text have a
// bar before them, so that none of them is taken for one of diglot, or for a command to CI.
func (f shown) block() string {
	var b strings.Builder
	fmt.Fprintln(&b, barred(f.Message))
	if f.Document != "" {
		fmt.Fprintf(&b, "document: %s\n", barred(f.Document))
	}
	if f.Curl != "" {
		fmt.Fprintln(&b, f.Curl)
	}
	if f.Status != "" {
		fmt.Fprintln(&b, f.Status)
	}
	if f.Reply != "" {
		fmt.Fprintln(&b, bar+barred(f.Reply))
	}
	if f.Stack != "" {
		fmt.Fprintln(&b, f.Stack)
	}
	return b.String()
}

const bar = "| "

// barred has a bar before each line but the first.
func barred(text string) string { return strings.ReplaceAll(text, "\n", "\n"+bar) }
