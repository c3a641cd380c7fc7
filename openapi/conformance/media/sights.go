package media

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// picture is a data URL of a red square.
func picture(format string) string {
	square := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range 64 * 64 {
		square.Set(i%64, i/64, color.RGBA{200, 20, 20, 255})
	}
	var file bytes.Buffer
	if format == "jpeg" {
		_ = jpeg.Encode(&file, square, nil) // a buffer takes all
	} else {
		_ = png.Encode(&file, square)
	}
	return "data:image/" + format + ";base64," + base64.StdEncoding.EncodeToString(file.Bytes())
}

func seeing(model, url string) dialect.Request {
	r := dialect.Greedy(model, "What colour is the picture? One word.", 8)
	r.Turns[0].Image = url
	return r
}

// sights are scenarios of images in requests.
func sights() []conformance.Scenario {
	each := func(promise, about string, need conformance.Need, run func(*conformance.Trial, dialect.Dialect)) []conformance.Scenario {
		all := dialect.Each(promise, about, func(d dialect.Dialect) bool { return d.System }, run) // raw text has no pictures
		for i := range all {
			all[i].Needs = need
		}
		return all
	}
	bad := func(t *conformance.Trial, d dialect.Dialect, model string, urls ...string) {
		for _, url := range urls {
			if x := d.Do(t, seeing(model, url)); x.Status != 400 {
				t.Errorf(x, "status %d, want 400", x.Status)
			}
		}
	}
	return slices.Concat(
		each("image", "A picture in the request is seen: it counts as tokens.", conformance.NeedVision, func(t *conformance.Trial, d dialect.Dialect) {
			for _, format := range []string{"png", "jpeg"} {
				with := d.Ask(t, seeing(t.Models.Vision, picture(format)))
				without := d.Ask(t, dialect.Greedy(t.Models.Vision, "What colour is the picture? One word.", 8))
				if with.Usage.Input <= without.Usage.Input {
					t.Errorf(with.Exchange, "%d tokens with a picture, %d without", with.Usage.Input, without.Usage.Input)
				}
			}
		}),
		each("images-several", "Several pictures are accepted, and count each.", conformance.NeedVision, func(t *conformance.Trial, d dialect.Dialect) {
			r := seeing(t.Models.Vision, picture("png"))
			one := d.Ask(t, r)
			r.Turns = append(r.Turns, dialect.Turn{Role: "assistant", Text: "Red."}, r.Turns[0])
			if two := d.Ask(t, r); two.Usage.Input <= one.Usage.Input {
				t.Errorf(two.Exchange, "%d tokens with two pictures, %d with one", two.Usage.Input, one.Usage.Input)
			}
		}),
		each("image-broken", "A picture that cannot be read is a 400.", conformance.NeedVision, func(t *conformance.Trial, d dialect.Dialect) {
			whole := picture("png")
			bad(t, d, t.Models.Vision, whole[:len(whole)/2], "data:image/png;base64,AAAA", "data:image/png;base64,?")
		}),
		each("image-of-no-picture-type", "A file that is no picture is a 400.", conformance.NeedVision, func(t *conformance.Trial, d dialect.Dialect) {
			bad(t, d, t.Models.Vision, "data:image/png;base64,"+base64.StdEncoding.EncodeToString([]byte("%PDF-1.4 no picture")))
		}),
		each("image-without-vision", "A picture for a model that sees none is a 400, and not left out in silence.", conformance.NeedText, func(t *conformance.Trial, d dialect.Dialect) {
			switch {
			case t.Models.Text == t.Models.Vision:
				t.Skipf("the text model sees pictures")
			case t.Models.Vision == "" && !t.Marks:
				t.Skipf("the text model may see pictures: no vision model is named")
			}
			bad(t, d, t.Models.Text, picture("png"))
		}),
	)
}
