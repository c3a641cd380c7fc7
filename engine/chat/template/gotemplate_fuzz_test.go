package template

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/engine/chat/template/control"
	"github.com/google/go-cmp/cmp"
)

// FuzzGoTemplate renders whatever compiles: the answer is a text or an error,
// within the time that there is.
func FuzzGoTemplate(f *testing.F) {
	for _, source := range []string{goHermes, goLlama3, goMistral, goHarmony, goPairs, goLast,
		`{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" .Messages }}`, "{{ range 1000000 }}{{ .Prompt }}{{ end }}"} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if !isGoTemplate(source) {
			return
		}
		tpl, err := compile(source, Model{}, testTime)
		if err != nil {
			return
		}
		tpl.bounds.Time = 200 * time.Millisecond
		c := conversation{turns: []turn{system(probeSystem), user(probeUser), calling(probeAnswer, probeCall(probeID))}}.withTools()
		text, err := tpl.text(t.Context(), c, control.NewMask(tpl.special))
		if len(text) > bounds.MaxPrompt {
			t.Errorf("%d bytes, error %v", len(text), err)
		}
	})
}

// FuzzMaskJSON: with a mask that changes nothing, the JSON is the same without
// white space; with one that does, it is JSON of the same shape.
func FuzzMaskJSON(f *testing.F) {
	for _, s := range []string{`{"b": 1.0, "a": [null, true, "<x>"], "": {}}`, `[]`, `"é\u2028"`, `1e400`, `{"a": 1, "a": 2}`, `{} x`, `{"a"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := maskJSON([]byte(s), func(s string) string { return s })
		if !json.Valid([]byte(s)) {
			if err == nil && !json.Valid([]byte(got)) {
				t.Errorf("%q gives %q", s, got)
			}
			return
		}
		if err != nil {
			if !strings.Contains(err.Error(), "nests deeper") {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		read := func(text []byte) (v any) {
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber()
			if err := d.Decode(&v); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			return v
		}
		if diff := cmp.Diff(read([]byte(s)), read([]byte(got))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", s, diff)
		}
		if masked, err := maskJSON([]byte(s), strings.ToUpper); err != nil || !json.Valid([]byte(masked)) {
			t.Errorf("%q masked is %q, error %v", s, masked, err)
		}
	})
}
