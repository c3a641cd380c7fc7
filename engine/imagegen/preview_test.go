package imagegen

import (
	"bytes"
	"image"
	"slices"
	"testing"

	"github.com/diglot/diglot/engine"
)

// TestPreviews: which steps are shown, of how many, and that previews have the size of
// the image, which the unfinished ones do not.
func TestPreviews(t *testing.T) {
	for _, tt := range []struct {
		name     string
		most, of int
		steps    []int // that the model shows; nil: 1 to of
		want     []int
	}{
		{"one of many", 1, 20, nil, []int{10}},
		{"three of many", 3, 20, nil, []int{5, 10, 15}},
		{"three of four", 3, 4, nil, []int{1, 2, 3}},
		{"three of two", 3, 2, nil, []int{1}},
		{"three of one", 3, 1, nil, nil},
		{"steps that repeat", 2, 6, []int{1, 1, 2, 2, 2, 3, 4, 4, 5, 6}, []int{2, 4}},
		{"steps that are left out", 3, 20, []int{4, 16, 17, 18, 20}, []int{16, 17, 18}},
	} {
		var got []engine.Event
		p := previews{most: tt.most, file: engine.ImageFile{Format: "jpeg"}, drawn: engine.Drawn{Choice: 2, Width: 32, Height: 16}, emit: func(e engine.Event) { got = append(got, e) }}
		steps := tt.steps
		if steps == nil {
			for step := range tt.of {
				steps = append(steps, step+1)
			}
		}
		var shown []int
		for _, step := range steps {
			before := len(got)
			p.show(step, tt.of, image.NewNRGBA(image.Rect(0, 0, 4, 2)))
			if len(got) > before {
				shown = append(shown, step)
			}
		}
		if !slices.Equal(shown, tt.want) {
			t.Errorf("%s: steps %v, want %v", tt.name, shown, tt.want)
		}
		for i, event := range got {
			preview := event.(engine.Preview)
			config, format, err := image.DecodeConfig(bytes.NewReader(preview.Image.Data))
			if err != nil || format != "jpeg" || config.Width != 32 || config.Height != 16 || preview.Index != i || preview.Choice != 2 || preview.Image.MediaType != "image/jpeg" {
				t.Errorf("%s: preview %d of image %d, %s of %dx%d, error %v", tt.name, preview.Index, preview.Choice, format, config.Width, config.Height, err)
			}
		}
	}
}
