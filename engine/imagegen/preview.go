package imagegen

import (
	"image"

	"golang.org/x/image/draw"

	"github.com/diglot/diglot/engine"
)

// previews chooses which steps of an image are shown: as many as are wanted, evenly
// spread, and never the last one.
type previews struct {
	most  int
	file  engine.ImageFile
	drawn engine.Drawn // what will be
	emit  func(engine.Event)

	shown int
	last  int // step that was shown
}

// show shows an unfinished image if it is time for one, in the size of the finished one.
func (p *previews) show(step, of int, unfinished image.Image) {
	if p.shown == p.most || step <= p.last || step >= of || step < of*(p.shown+1)/(p.most+1) {
		return
	}
	picture := unfinished
	if size := image.Pt(p.drawn.Width, p.drawn.Height); unfinished.Bounds().Size() != size {
		scaled := image.NewRGBA(image.Rectangle{Max: size})
		draw.ApproxBiLinear.Scale(scaled, scaled.Rect, unfinished, unfinished.Bounds(), draw.Src, nil)
		picture = scaled
	}
	data, err := encode(picture, p.file, "")
	if err != nil {
		return // of the finished image it would be an error
	}
	preview := engine.Preview{Index: p.shown, Drawn: p.drawn}
	preview.Image = engine.Image{Data: data, MediaType: p.file.MediaType()}
	p.emit(preview)
	p.shown++
	p.last = step
}
