package engine

import (
	"cmp"
	"fmt"
	"iter"
)

// ImageRequest asks for images of what a prompt describes.
type ImageRequest struct {
	Model   string
	Prompt  string
	Choices int // number of images, at least 1
	Width   int // in pixels; both sides 0: model default
	Height  int
	Quality string // as in the OpenAI style; empty: model default
	Style   string // like Quality
	File    ImageFile
	Drawing Drawing

	// Previews is how many previews each image should have. There may be fewer.
	Previews int
}

// ImageFile is how an image is encoded.
type ImageFile struct {
	Format  string // png or jpeg; empty: png
	Quality int    // of a JPEG file, 1 to 100; 0: 100
}

// MediaType is the type of the file.
func (f ImageFile) MediaType() string { return "image/" + cmp.Or(f.Format, "png") }

// Preview is an unfinished image, described like the finished one.
type Preview struct {
	Index int // of this preview of the image, from 0
	Drawn
}

// Drawn is a finished image.
type Drawn struct {
	Choice        int
	Image         Image // Data and MediaType
	Width, Height int
	Quality       string // applied, as in [ImageRequest]; empty: unknown
	Background    string // transparent or opaque; empty: unknown
	Usage         ImageUsage
}

// ImageUsage counts the tokens of a request. The zero value: there are none to count.
// The last [Drawn] has those of all images.
type ImageUsage struct {
	InputTokens, OutputTokens int
	TextTokens, ImageTokens   int // of InputTokens
}

func (Preview) event() {}
func (Drawn) event()   {}

// CollectImages returns the finished images of a sequence, or its error.
func CollectImages(events iter.Seq2[Event, error]) ([]Drawn, error) {
	var all []Drawn
	for event, err := range events {
		if err != nil {
			return nil, err
		}
		if d, ok := event.(Drawn); ok {
			all = append(all, d)
		}
	}
	return all, nil
}

// maxImageSide is more than any image has, in pixels.
const maxImageSide = 1 << 16

// ImageSequence validates the events for an [ImageRequest], as [Sequence] does for a
// [Request].
type ImageSequence struct {
	request  *ImageRequest
	started  bool
	previews int // of the current image
	drawn    int
}

// NewImageSequence returns an ImageSequence for the reply to req.
func NewImageSequence(req *ImageRequest) *ImageSequence { return &ImageSequence{request: req} }

// Add validates the next event.
func (s *ImageSequence) Add(event Event) error {
	switch e := event.(type) {
	case Start:
		if s.started || s.drawn+s.previews > 0 {
			return fmt.Errorf("a Start behind another event")
		}
		s.started = true
		return (&Sequence{}).start(e)
	case Preview:
		return s.preview(e)
	case Drawn:
		return s.image(e)
	}
	return fmt.Errorf("unknown event %T", event)
}

func (s *ImageSequence) preview(p Preview) error {
	switch {
	case p.Choice != s.drawn || p.Choice >= s.wanted():
		return fmt.Errorf("a preview of image %d where image %d of %d is next", p.Choice, s.drawn, s.wanted())
	case p.Index != s.previews || p.Index >= s.request.Previews:
		return fmt.Errorf("preview %d where %d of %d is next", p.Index, s.previews, s.request.Previews)
	}
	s.previews++
	return p.check()
}

func (s *ImageSequence) image(d Drawn) error {
	if d.Choice != s.drawn || d.Choice >= s.wanted() {
		return fmt.Errorf("image %d where image %d of %d is next", d.Choice, s.drawn, s.wanted())
	}
	s.drawn++
	s.previews = 0
	return d.check()
}

func (d Drawn) check() error {
	u := d.Usage
	switch {
	case d.Width < 1 || d.Width > maxImageSide || d.Height < 1 || d.Height > maxImageSide:
		return fmt.Errorf("an image of %dx%d pixels", d.Width, d.Height)
	case d.Quality != "" && !isLegal(d.Quality) || d.Background != "" && !isLegal(d.Background):
		return fmt.Errorf("an image of the quality %q on %q", cut(d.Quality), cut(d.Background))
	case !isCount(u.InputTokens) || !isCount(u.OutputTokens) || !isCount(u.TextTokens) || !isCount(u.ImageTokens):
		return fmt.Errorf("an image with the usage %+v", u)
	}
	return nil
}

// End reports an error unless all images are there.
func (s *ImageSequence) End() error {
	if s.drawn < s.wanted() || s.previews > 0 {
		return fmt.Errorf("%d images, want %d", s.drawn, s.wanted())
	}
	return nil
}

func (s *ImageSequence) wanted() int { return max(s.request.Choices, 1) }

// Drawing are settings of image models. Zero values are the model's defaults.
type Drawing struct {
	Steps          int     // of denoising
	Guidance       float64 // scale of classifier-free guidance; 1: none
	Sampler        string  // by the engine's name
	Scheduler      string  // by the engine's name
	NegativePrompt string  // what the images should not show
	Seed           uint64  // of the first image; each further one has the next number
	Seeded         bool    // Seed is set; otherwise it is random
}

// Fill fills in what is not set.
func (d *Drawing) Fill(defaults Drawing) {
	d.Steps = cmp.Or(d.Steps, defaults.Steps)
	d.Guidance = cmp.Or(d.Guidance, defaults.Guidance)
	d.Sampler = cmp.Or(d.Sampler, defaults.Sampler)
	d.Scheduler = cmp.Or(d.Scheduler, defaults.Scheduler)
	d.NegativePrompt = cmp.Or(d.NegativePrompt, defaults.NegativePrompt)
	if !d.Seeded {
		d.Seed, d.Seeded = defaults.Seed, defaults.Seeded
	}
}
