package difference_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/internal/cassette/difference"
)

// TestText has differences that are told in one line: of several fields of an object, of
// several events, and of headers whatever the operation.
func TestText(t *testing.T) {
	c := difference.Comparison{Cases: 4, Same: 1, Differences: []difference.Difference{
		{Kind: difference.Absent, Text: "the case is missing", Cases: []string{"x"}},
		{Operation: "GET /a", Kind: difference.Header, Path: "X-Id", Text: "header missing", Cases: []string{"a"}},
		{Operation: "POST /b", Kind: difference.Missing, Path: "n.one", Text: "missing", Cases: []string{"b", "c"}},
		{Operation: "POST /b", Kind: difference.Missing, Path: "n.two", Text: "missing", Cases: []string{"b", "c"}},
		{Operation: "POST /b", Kind: difference.Missing, Path: "n.three", Text: "missing", Cases: []string{"b"}},
		{Operation: "POST /b", Kind: difference.Header, Path: "X-Id", Text: "header missing", Cases: []string{"b", "c", "d"}},
		{Operation: "POST /b", Kind: difference.Missing, Event: "start", Path: "index", Text: "missing", Cases: []string{"b"}},
		{Operation: "POST /b", Kind: difference.Missing, Event: "stop", Path: "index", Text: "missing", Cases: []string{"b"}},
		{Operation: "POST /b", Kind: difference.Value, Path: "kind|of", Text: "a_b, not <c>", Cases: []string{"b"}},
	}}
	const want = `4 cases, 1 the same; 9 differences

Cases
     1 case  the case is missing  (x)

Headers
    4 cases  X-Id: header missing  (a, b, c, ...)

POST /b
    2 cases  n.one, two: missing  (b, c)
     1 case  n.three: missing  (b)
     1 case  start, stop: index: missing  (b)
     1 case  kind|of: a_b, not <c>  (b)
`
	if diff := cmp.Diff(want, c.Text()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const page = `
## Cases

| cases | difference | where |
|---:|---|---|
| 1 | the case is missing | x |

## Headers

| cases | difference | where |
|---:|---|---|
| 4 | ` + "`X-Id`" + `: header missing | a, b, c, ... |

## POST /b

| cases | difference | where |
|---:|---|---|
| 2 | ` + "`n.one`, `two`" + `: missing | b, c |
| 1 | ` + "`n.three`" + `: missing | b |
| 1 | ` + "`start`, `stop`: `index`" + `: missing | b |
| 1 | ` + "`kind\\|of`" + `: a\_b, not &lt;c&gt; | b |
`
	if diff := cmp.Diff(page, c.Markdown("##")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
