//go:build imagegen

package sdcpp

import (
	"bytes"
	"image"
	"slices"
	"testing"

	"github.com/diglot/diglot/engine/imagegen"
)

// TestPreviews: the library shows each step, each another image, and the finished image
// is the one without previews.
func TestPreviews(t *testing.T) {
	m := load(t, miniature(t))
	job := imagegen.Job{Prompt: "a red house", Size: image.Pt(64, 64), Seed: 7, Steps: 4, Guidance: 1}
	want := draw(t, m, job)
	var steps []int
	var last []byte
	job.Preview = func(step, of int, unfinished image.Image) {
		steps = append(steps, step)
		small := unfinished.(*image.NRGBA)
		if of != 4 || small.Rect.Dx() < 4 || small.Rect.Dx() != small.Rect.Dy() || small.Rect.Dx() > 64 {
			t.Errorf("step %d of %d: %v", step, of, small.Rect)
		}
		if bytes.Equal(small.Pix, last) {
			t.Errorf("step %d shows the image of the step before", step)
		}
		last = small.Pix
	}
	if got := draw(t, m, job); !bytes.Equal(got.Pix, want.Pix) {
		t.Error("previews change the image")
	}
	if !slices.Equal(steps, []int{1, 2, 3, 4}) {
		t.Errorf("steps %v", steps)
	}
	steps, job.Preview = nil, nil
	if draw(t, m, job); steps != nil {
		t.Errorf("steps %v after the request for them", steps)
	}
}
