package comparison

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReasons(t *testing.T) {
	r, err := ReadReasons([]byte(`
reasons:
  - {operation: POST /v1/things, kind: lacks, fields: ['parts[type=*', voice], reason: Not a thing here.}
  - {part: body, fields: ['*'], reason: The second line is for the rest.}
  - {part: event, fields: [x], reason: It explains nothing at all.}
`))
	if err != nil {
		t.Fatal(err)
	}
	result := Report{Styles: []Compared{compareTestdata(t)}}
	unused := r.Explain(result)
	if diff := cmp.Diff([]string{"*, *, event, *: x"}, unused); diff != "" {
		t.Errorf("unused: -want +got\n%s", diff)
	}
	got := map[string]string{}
	for _, d := range result.Styles[0].Operations[0].Differences {
		got[d.Part+" "+d.Field] = d.Reason
	}
	for field, want := range map[string]string{
		"body parts[type=film]":       "Not a thing here.",
		"body parts[type=text].cache": "Not a thing here.",
		"body voice":                  "Not a thing here.",
		"body count":                  "The second line is for the rest.",
		"body speed":                  "partial: Everything is slow.",
		"reply kind":                  "",
	} {
		if got[field] != want {
			t.Errorf("%s: %q, want %q", field, got[field], want)
		}
	}
	if want := (Tally{Operations: 2, Fields: 39, Differences: 31, ByMark: 5, ByReason: 13, Unexplained: 13}); result.Tally() != want {
		t.Errorf("%+v, want %+v", result.Tally(), want)
	}
}

func TestReadReasons(t *testing.T) {
	if _, err := Known(); err != nil {
		t.Error(err)
	}
	for name, text := range map[string]string{
		"no reason":      "reasons: [{fields: [a], reason: None.}]",
		"no fields":      "reasons: [{reason: There are no fields.}]",
		"unknown member": "reasons: [{field: a, fields: [a], reason: Not a member of it.}]",
	} {
		if _, err := ReadReasons([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestGlob(t *testing.T) {
	tests := []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true},
		{"a", "ab", false},
		{"*", "", true},
		{"*.b", "a[].b", true},
		{"*.b", "a[].bc", false},
		{"a*c*", "abcd", true},
		{"a[]*", "a[type=x]", false},
		{"a[type=*].b", "a[type=x].b", true},
		{"*a*b", "xxaab", true},
	}
	for _, tt := range tests {
		if got := glob(tt.pattern, tt.text); got != tt.want {
			t.Errorf("glob(%q, %q) = %v", tt.pattern, tt.text, got)
		}
	}
}
