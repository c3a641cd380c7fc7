package engine

import (
	"reflect"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSamplingParams: each tag says what a parameter needs to be said, and its
// values stay in their range.
func TestSamplingParams(t *testing.T) {
	name, upstream := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`), regexp.MustCompile(`^[a-z_]+$`)
	seen := map[string]bool{}
	for p := range SamplingParams() {
		if !name.MatchString(p.Name) || seen[p.Name] || p.Help == "" {
			t.Errorf("%+v: the name is no name, or taken, or there is no help", p)
		}
		seen[p.Name] = true
		for _, other := range p.Upstream {
			if !upstream.MatchString(other) {
				t.Errorf("%s: %q is no name of a member", p.Name, other)
			}
		}
		for what, value := range map[string]any{"neutral": p.Neutral, "default": p.Default} {
			if value != nil && !p.Range.Has(reflect.ValueOf(value).Convert(reflect.TypeFor[float64]()).Float()) {
				t.Errorf("%s: the %s value %v is not in %v", p.Name, what, value, p.Range)
			}
		}
		if p.Model != "" && (p.Recommended.Min < p.Range.Min || p.Recommended.Max > p.Range.Max) {
			t.Errorf("%s: what a model may recommend, %v, is not in %v", p.Name, p.Recommended, p.Range)
		}
	}
	if n := reflect.TypeFor[Sampling]().NumField() - 1; len(seen) != n {
		t.Errorf("%d parameters of %d fields but for LogitBias", len(seen), n)
	}
}

// TestSamplingAccess: a value that is set is got, in its own field alone.
func TestSamplingAccess(t *testing.T) {
	for p := range SamplingParams() {
		var s Sampling
		if v := p.Get(&s); v != nil {
			t.Errorf("%s: %v where nothing is set", p.Name, v)
		}
		p.Set(&s, p.Value(3))
		for other := range SamplingParams() {
			want := any(nil)
			if other.Name == p.Name {
				want = p.Value(3)
			}
			if got := other.Get(&s); got != want {
				t.Errorf("%s is set, and %s is %v, want %v", p.Name, other.Name, got, want)
			}
		}
		p.Set(&s, nil)
		if diff := cmp.Diff(Sampling{}, s); diff != "" {
			t.Errorf("%s is set to none: %s", p.Name, diff)
		}
	}
}

// TestFill: what is set stays, a zero too, and the other is not changed.
func TestFill(t *testing.T) {
	other := DefaultSampling()
	other.LogitBias = map[int]float64{1: 2}
	for p := range SamplingParams() {
		var s Sampling
		p.Set(&s, p.Value(0))
		s.Fill(other)
		want := other
		p.Set(&want, p.Value(0))
		if diff := cmp.Diff(want, s); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.Name, diff)
		}
	}
	if *DefaultSampling().Temperature != 0.8 || DefaultSampling().Seed != nil || *NeutralSampling().Temperature != 0 {
		t.Error("the defaults were changed")
	}
}

// BenchmarkFill is what a request pays for its merging.
func BenchmarkFill(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s := Sampling{Temperature: defaultSampling.Temperature}
		s.Fill(neutralSampling)
		s.Fill(defaultSampling)
	}
}
