package flagvalue

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// Headers is a repeatable flag for HTTP headers.
type Headers http.Header

func (h *Headers) String() string { return "" } // values may be secret

func (h *Headers) Type() string { return "header" }

func (h *Headers) Set(text string) error {
	name, value, ok := strings.Cut(text, ":")
	if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, " \t") {
		return fmt.Errorf("want NAME: VALUE")
	}
	if *h == nil {
		*h = Headers{}
	}
	http.Header(*h).Add(name, strings.TrimSpace(value))
	return nil
}

// Patterns is a repeatable flag for regular expressions.
type Patterns []*regexp.Regexp

func (p *Patterns) String() string { return "" }
func (p *Patterns) Type() string   { return "REGEXP" }

func (p *Patterns) Set(text string) error {
	e, err := regexp.Compile(text)
	if err != nil {
		return err
	}
	*p = append(*p, e)
	return nil
}
