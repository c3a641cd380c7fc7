package chat

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/template"
)

func onePixel(t *testing.T) engine.Image {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 1, 1))
	m.SetGray(0, 0, color.Gray{7})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return engine.Image{Data: b.Bytes(), MediaType: "image/png"}
}

// seeingEngine is an engine over a model that takes images.
func seeingEngine(t *testing.T, m *fakeModel) *Engine {
	t.Helper()
	e := testEngine("plain", "", m)
	e.info.Vision = true
	tpl, err := template.New(anyTurn, template.Model{Format: "plain"}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	e.template = tpl
	return e
}

func TestImagesReachTheModel(t *testing.T) {
	m := &fakeModel{pieces: []string{"red"}, end: EndOfTurn}
	req := testRequest()
	req.Messages = append(req.Messages, userParts(onePixel(t), engine.Text{Text: "?"}, onePixel(t)))
	if _, err := engine.Collect(seeingEngine(t, m).Generate(t.Context(), req)); err != nil {
		t.Fatal(err)
	}
	images := m.jobs.Load().Images
	if len(images) != 2 || images[0].Picture.Width != 2 || images[0].Picture.Key != images[1].Picture.Key || images[0].Message != 1 {
		t.Errorf("the job has the images %+v", images)
	}
}

func TestBadImages(t *testing.T) {
	pixel := onePixel(t)
	for _, tt := range []struct {
		name  string
		parts []engine.Part
		want  string
	}{
		{"no picture", []engine.Part{onePixel(t), engine.Image{Data: []byte("hello"), MediaType: "image/png"}}, "not an image of a known format"},
		{"the same data as another kind", []engine.Part{onePixel(t), engine.Image{Data: pixel.Data, MediaType: "image/png"}, engine.Image{Data: pixel.Data, MediaType: "image/gif"}}, "its data is image/png"},
		{"a part of the same data", []engine.Part{pixel, engine.Image{Data: pixel.Data[:20]}}, "cannot be read"},
		{"another kind", []engine.Part{engine.Image{Data: onePixel(t).Data, MediaType: "image/gif"}}, "its data is image/png"},
		{"in a result", []engine.Part{engine.ToolResult{CallID: "1", Parts: []engine.Part{engine.Image{Data: []byte("<svg/>")}}}}, "SVG"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := testRequest()
			m := userParts(tt.parts...)
			if _, ok := tt.parts[len(tt.parts)-1].(engine.ToolResult); ok {
				m.Role = engine.RoleTool
			}
			req.Messages = append(req.Messages, m)
			_, err := seeingEngine(t, &fakeModel{pieces: []string{"x"}, end: EndOfTurn}).Count(t.Context(), req)
			var e *engine.Error
			if !errors.As(err, &e) || e.Code != engine.CodeInvalidArgument || !strings.Contains(e.Message, tt.want) {
				t.Fatalf("error %v, want one with %q", err, tt.want)
			}
			if want := (engine.Place{Field: engine.FieldMessages, Index: 1}); e.Place != want {
				t.Errorf("place %v, want %v", e.Place, want)
			}
		})
	}
}
