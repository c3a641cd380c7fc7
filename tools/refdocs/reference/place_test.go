package reference

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlaces(t *testing.T) {
	for _, tt := range []struct {
		sequence string
		want     map[string]Place
	}{
		{"a b ", map[string]Place{"a": {First: true, Next: []string{"b"}}, "b": {Last: true}}},
		{"a (b )*c ", map[string]Place{"a": {First: true, Next: []string{"b", "c"}}, "b": {Next: []string{"b", "c"}}, "c": {Last: true}}},
		{"(a )?(b |c )+", map[string]Place{
			"a": {First: true, Next: []string{"b", "c"}}, "b": {First: true, Last: true, Next: []string{"b", "c"}}, "c": {First: true, Last: true, Next: []string{"b", "c"}}}},
		{"a (b (c )?)*", map[string]Place{
			"a": {First: true, Last: true, Next: []string{"b"}}, "b": {Last: true, Next: []string{"b", "c"}}, "c": {Last: true, Next: []string{"b"}}}},
		{"((a )*)*b ", map[string]Place{"a": {First: true, Next: []string{"a", "b"}}, "b": {First: true, Last: true}}},
	} {
		got, err := placesOf(tt.sequence)
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", tt.sequence, err, diff)
		}
	}
	for _, bad := range []string{"a{2} ", "a b", "a )b "} {
		if _, err := placesOf(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}
