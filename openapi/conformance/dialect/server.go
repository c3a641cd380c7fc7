package dialect

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/diglot/diglot/openapi/conformance"
)

// Do sends a request as the server takes it. What the server has not, and need not have, ends
// the scenario as not offered.
func (d Dialect) Do(t *conformance.Trial, r Request) *conformance.Exchange {
	if why := d.lacks(t, r); why != "" {
		t.NotOfferedf("%s", why)
	}
	return t.Do(d.For(t, r))
}

// For is a request as the server takes it: without a temperature, if it has none.
func (d Dialect) For(t *conformance.Trial, r Request) conformance.Request {
	if r.Temperature != nil && d.Warm(t) {
		r.Temperature = nil
	}
	return d.Encode(r)
}

// Warm reports whether the server refuses a temperature, as it does for the newest models of
// both vendors: the same request then has other answers each time.
func (d Dialect) Warm(t *conformance.Trial) bool {
	return !t.Marks && t.Once(d.Name+": no temperature", func() bool {
		x, err := t.Try(d.Encode(Greedy(t.Models.Text, "Hi", 16)))
		return err == nil && x.Status == http.StatusBadRequest && bytes.Contains(x.Body, []byte("temperature"))
	})
}

// NeedGreedy ends a scenario about the most likely answer if there is no asking for it.
func (d Dialect) NeedGreedy(t *conformance.Trial) {
	if d.Warm(t) {
		t.NotOfferedf("%s", NotGreedy)
	}
}

// NotGreedy says why answers of a server that is [Dialect.Warm] are not compared.
const NotGreedy = "the server takes no temperature, and so gives no answer twice"

// lacks says what of a request the vendor's document does not have, nor the server; or nothing.
func (d Dialect) lacks(t *conformance.Trial, r Request) string {
	if t.Marks || d.Name != "completions" || r.Schema == nil && !r.JSON {
		return ""
	}
	if t.Once(d.Name+": no response_format", func() bool { return !d.formats(t) }) {
		return "response_format, which completions of the vendor do not have, has no effect here"
	}
	return ""
}

// formats reports whether a schema has an effect on raw text. A server that does not answer
// is left to the scenario.
func (d Dialect) formats(t *conformance.Trial) bool {
	r := Greedy(t.Models.Text, "Is water wet? Water is", 40)
	r.Schema = Closed(map[string]any{"yes": map[string]any{"type": "boolean"}}, "yes")
	x, err := t.Try(d.For(t, r))
	if err != nil || x.Status != http.StatusOK {
		return err != nil || x.Status != http.StatusBadRequest
	}
	a, err := d.Read(x)
	return err == nil && strings.HasPrefix(strings.TrimSpace(a.First().Text), "{")
}
