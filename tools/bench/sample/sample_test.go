package sample

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSummarize(t *testing.T) {
	missing := math.NaN()
	for _, tt := range []struct {
		name   string
		values []float64
		want   Summary
	}{
		{"nothing", nil, Summary{}},
		{"no value", []float64{missing}, Summary{}},
		{"one", []float64{4}, Summary{1, 4, 4, 4, 4, 4}},
		{"an even number", []float64{4, 1, 3, 2}, Summary{4, 2.5, 1.75, 3.25, 1, 4}},
		{"an odd number, one round without", []float64{5, missing, 1, 2, 4, 3}, Summary{5, 3, 2, 4, 1, 5}},
	} {
		if diff := cmp.Diff(tt.want, Summarize(tt.values)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestRatios(t *testing.T) {
	missing := math.NaN()
	got := Ratios([]float64{2, 3, missing, 4, 5}, []float64{4, missing, 1, 0})
	if len(got) != 4 || got[0] != 0.5 || !math.IsNaN(got[1]) || !math.IsNaN(got[2]) || !math.IsNaN(got[3]) {
		t.Errorf("ratios are %v", got)
	}
}

func TestArrivals(t *testing.T) {
	const mean = 50 * time.Millisecond
	got := Arrivals(3, 2000, mean)
	if got[0] != 0 || !slices.IsSorted(got) {
		t.Errorf("arrivals begin with %v, sorted: %t", got[0], slices.IsSorted(got))
	}
	if each := got[len(got)-1] / time.Duration(len(got)-1); each < mean*9/10 || each > mean*11/10 {
		t.Errorf("their mean distance is %v, not %v", each, mean)
	}
	if !slices.Equal(got, Arrivals(3, 2000, mean)) {
		t.Error("the same seed gives other times")
	}
	if slices.Equal(got, Arrivals(4, 2000, mean)) {
		t.Error("another seed gives the same times")
	}
	if len(Arrivals(1, 0, mean)) != 0 {
		t.Error("no request arrives at some time")
	}
}
