package openapi

import (
	"fmt"
	"slices"
	"testing"
)

// TestRequestsHaveBounds checks that every list, and every object with free field names,
// has a maximum: how often a small thing may occur decides how much memory a body takes.
func TestRequestsHaveBounds(t *testing.T) {
	for name, load := range map[string]func() (*Document, error){"openai": OpenAI, "anthropic": Anthropic} {
		document, err := load()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range document.Operations() {
			if o.Body != nil {
				w := boundsWalk{seen: map[*Schema]bool{}}
				w.use(o.Body, o.ID)
				slices.Sort(w.without)
				for _, place := range w.without {
					t.Errorf("%s: %s", name, place)
				}
			}
		}
	}
}

type boundsWalk struct {
	seen    map[*Schema]bool
	without []string // paths without a bound
}

func (w *boundsWalk) use(u *Use, place string) {
	if u == nil || u.effect == SupportRefused || u.effect == SupportIgnored || w.seen[u.Schema] {
		return
	}
	s := u.Schema
	w.seen[s] = true
	if s.Items != nil && s.MaxItems == nil && (u.Only == nil || u.Only.MaxItems == nil) {
		w.without = append(w.without, fmt.Sprintf("%s (%s, line %d) is a list without maxItems", place, s.Name, u.Line))
	}
	if s.Extra == ExtraChecked && s.MaxProperties == nil {
		w.without = append(w.without, fmt.Sprintf("%s (%s, line %d) has any members, without maxProperties", place, s.Name, u.Line))
	}
	for i := range s.Properties {
		w.use(&s.Properties[i].Use, place+"."+s.Properties[i].Name)
	}
	for i := range s.Union {
		w.use(&s.Union[i], place)
	}
	w.use(s.Items, place+"[]")
	w.use(s.Additional, place+".*")
}
