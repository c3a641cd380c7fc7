//go:build llamacpp && cgo

package llamacpp

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/engine/picture"
)

// seeing is the model that sees, by a projector of tools/projector.
const seeing = "qwen2.5-coder-0.5b"

var shades = map[string]color.RGBA{
	"red":    {220, 20, 20, 255},
	"blue":   {10, 30, 230, 255},
	"green":  {20, 200, 30, 255},
	"yellow": {240, 230, 10, 255},
}

// projectorFile finds the projector beside its model.
func projectorFile(t testing.TB) string {
	t.Helper()
	model := modelFile(t, seeing)
	path := strings.TrimSuffix(model, ".gguf") + "-colours.gguf"
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v\nmake it with: go run ./tools/projector %s %s", err, model, path)
	}
	return path
}

// openSeeing opens the model and an engine over it.
func openSeeing(t testing.TB, options Options) (*decode.Model, *chat.Engine) {
	t.Helper()
	m := openModel(t, seeingOptions(t, options))
	return m, chatOver(t, m)
}

func seeingOptions(t testing.TB, options Options) Options {
	options.Path, options.Projector = modelFile(t, seeing), projectorFile(t)
	if options.Context == 0 {
		options.Context = 2048
	}
	return options
}

func chatOver(t testing.TB, m *decode.Model) *chat.Engine {
	t.Helper()
	e, err := chat.New(m, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// shade is a picture of one colour.
func shade(t testing.TB, name string, w, h int) engine.Image {
	t.Helper()
	m := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{shades[name]})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return engine.Image{Data: b.Bytes(), MediaType: "image/png"}
}

const whichColour = "What colour is the picture? One word."

// look asks for the colour of the pictures.
func lookAt(m *decode.Model, images ...engine.Image) *engine.Request {
	var parts []engine.Part
	for _, i := range images {
		parts = append(parts, i)
	}
	zero, few := 0.0, 8
	return &engine.Request{
		Model:     m.Info().Name,
		Messages:  []engine.Message{{Role: engine.RoleUser, Parts: append(parts, engine.Text{Text: whichColour})}},
		Sampling:  engine.Sampling{Temperature: &zero},
		MaxTokens: &few,
	}
}

// say generates and returns the first answer in small letters.
func say(t testing.TB, e engine.Engine, req *engine.Request) (string, *engine.Response) {
	t.Helper()
	response, err := engine.Collect(e.Generate(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ToLower(textOf(response.Choices[0])), response
}

func textOf(c engine.Choice) string {
	var text string
	for _, b := range c.Blocks {
		text += b.Text
	}
	return text
}

func TestColours(t *testing.T) {
	m, e := openSeeing(t, Options{})
	if !m.Info().Vision {
		t.Error("the model does not say that it sees")
	}
	for name := range shades {
		for _, size := range []image.Point{{96, 96}, {1, 1}, {5200, 4000}, {300, 2}} {
			// Of the last the model sees next to nothing: it is put into a gray square.
			got, response := say(t, e, lookAt(m, shade(t, name, size.X, size.Y)))
			if !strings.Contains(got, name) && size.Y > 2 {
				t.Errorf("%s, %v: the model says %q", name, size, got)
			}
			n, err := e.Count(t.Context(), lookAt(m, shade(t, name, size.X, size.Y)))
			if err != nil || n != response.Usage.PromptTokens {
				t.Errorf("%s, %v: counted %d, error %v; the reply says %d", name, size, n, err, response.Usage.PromptTokens)
			}
		}
	}
	// A photograph's noise does not matter.
	noisy := image.NewRGBA(image.Rect(0, 0, 64, 64))
	draw.Draw(noisy, noisy.Bounds(), image.NewUniform(shades["blue"]), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, noisy, &jpeg.Options{Quality: 30}); err != nil {
		t.Fatal(err)
	}
	if got, _ := say(t, e, lookAt(m, engine.Image{Data: b.Bytes(), MediaType: "image/jpeg"})); !strings.Contains(got, "blue") {
		t.Errorf("JPEG: the model says %q", got)
	}
}

// TestImageCells: a picture has as many tokens as the projector has patches.
func TestImageCells(t *testing.T) {
	m, e := openSeeing(t, Options{})
	count := func(images ...engine.Image) int {
		n, err := e.Count(t.Context(), lookAt(m, images...))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const cells = 4
	none, one, two := count(), count(shade(t, "red", 9, 9)), count(shade(t, "red", 9, 9), shade(t, "blue", 9, 9))
	// A line end stands between an image and the text.
	if one != none+cells+1 || two != one+cells+1 {
		t.Errorf("%d, %d and %d tokens with no, one and two images of %d", none, one, two, cells)
	}
	if m.Stats().ImagesEncoded != 0 {
		t.Error("counting computes pictures")
	}
}

func TestImageOverTurns(t *testing.T) {
	m, e := openSeeing(t, Options{})
	req := lookAt(m, shade(t, "green", 96, 96))
	first, response := say(t, e, req)
	next := *req
	next.Messages = append(req.Messages[:1:1],
		engine.Message{Role: engine.RoleAssistant, Parts: []engine.Part{engine.Text{Text: "Green"}}},
		engine.Message{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "Say the colour again. One word."}}})
	second, after := say(t, e, &next)
	if !strings.Contains(first, "green") || !strings.Contains(second, "green") {
		t.Errorf("the model says %q, then %q", first, second)
	}
	if after.Usage.CachedTokens < response.Usage.PromptTokens {
		t.Errorf("%d tokens cached in the second turn, want at least the %d of the first prompt", after.Usage.CachedTokens, response.Usage.PromptTokens)
	}
	if n := m.Stats().ImagesEncoded; n != 1 {
		t.Errorf("the picture was computed %d times", n)
	}
	// Another picture of the same size in its place is another prompt.
	if got, _ := say(t, e, lookAt(m, shade(t, "yellow", 96, 96))); !strings.Contains(got, "yellow") {
		t.Errorf("another picture: the model says %q", got)
	}
}

func TestTwoImages(t *testing.T) {
	m, e := openSeeing(t, Options{})
	req := lookAt(m, shade(t, "blue", 96, 96))
	req.Messages = append([]engine.Message{
		{Role: engine.RoleUser, Parts: []engine.Part{shade(t, "red", 96, 96), engine.Text{Text: whichColour}}},
		{Role: engine.RoleAssistant, Parts: []engine.Part{engine.Text{Text: "Red"}}},
	}, req.Messages...)
	if got, _ := say(t, e, req); !strings.Contains(got, "blue") {
		t.Errorf("the model says %q of the second picture", got)
	}
	if n := m.Stats().ImagesEncoded; n != 2 {
		t.Errorf("%d pictures were computed", n)
	}
	req.Messages[0].Parts[0], req.Messages[2].Parts[0] = shade(t, "yellow", 96, 96), shade(t, "yellow", 96, 96)
	say(t, e, req)
	if n := m.Stats().ImagesEncoded; n != 4 { // one after the other: the second stands behind another text
		t.Errorf("%d pictures were computed", n)
	}
}

func TestImageInToolResult(t *testing.T) {
	m, e := openSeeing(t, Options{})
	for name := range shades {
		req := lookAt(m)
		req.Tools = []engine.Tool{{Name: "take_photo", Description: "Takes a picture.", Parameters: []byte(`{"type":"object","properties":{}}`)}}
		req.Messages = []engine.Message{
			{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "Take a picture, and say in one word which colour it has."}}},
			{Role: engine.RoleAssistant, Parts: []engine.Part{engine.ToolCall{ID: "1", Name: "take_photo", Arguments: "{}"}}},
			{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "1", Name: "take_photo",
				Parts: []engine.Part{engine.Text{Text: "The colour of the picture is"}, shade(t, name, 96, 96)}}}},
		}
		req.ToolChoice.Mode = engine.ToolNone
		few := 24
		req.MaxTokens = &few
		if got, _ := say(t, e, req); !strings.Contains(got, name) {
			t.Errorf("%s: the model says %q", name, got)
		}
	}
}

// TestChoicesShareAnImage: n answers, one picture computed; the same twice.
func TestChoicesShareAnImage(t *testing.T) {
	m, e := openSeeing(t, Options{})
	req := lookAt(m, shade(t, "red", 96, 96))
	req.Choices = 2
	warm, seed := 1.5, int64(3)
	req.Sampling = engine.Sampling{Temperature: &warm, Seed: &seed}
	texts := func() (all []string) {
		_, response := say(t, e, req)
		for _, c := range response.Choices {
			all = append(all, textOf(c))
		}
		return all
	}
	first := texts()
	if n := m.Stats().ImagesEncoded; n != 1 {
		t.Errorf("the picture was computed %d times for two choices", n)
	}
	if second := texts(); len(first) != 2 || strings.Join(first, "|") != strings.Join(second, "|") {
		t.Errorf("the same seed gives %q, then %q", first, second)
	}
}

func TestBadImage(t *testing.T) {
	m, e := openSeeing(t, Options{})
	whole := shade(t, "red", 96, 96)
	req := lookAt(m, whole, engine.Image{Data: whole.Data[:len(whole.Data)-30], MediaType: "image/png"})
	req.Messages = append([]engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "Hi"}}}}, req.Messages...)
	_, err := engine.Collect(e.Generate(t.Context(), req))
	if e := engine.AsError(err); e == nil || e.Code != engine.CodeInvalidArgument || e.Place.Index != 1 || !strings.Contains(e.Message, "truncated") {
		t.Errorf("error %v, want an invalid argument in the second message", err)
	}
	if got, _ := say(t, e, lookAt(m, whole)); !strings.Contains(got, "red") {
		t.Errorf("after it the model says %q", got)
	}
}

// TestEncodeStops raises the flag that stops what is computed.
func TestEncodeStops(t *testing.T) {
	c := configured(t, seeingOptions(t, Options{}))
	m := decode.New(c)
	t.Cleanup(func() { m.Close() })
	e := chatOver(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := engine.Collect(e.Generate(ctx, lookAt(m, shade(t, "red", 96, 96)))); engine.AsError(err).Code != engine.CodeCanceled {
		t.Errorf("error %v", err)
	}
	session := c.Text.Backend.(*session)
	picture := jobFor(t, m, shade(t, "red", 96, 96)).Images[0].Picture
	l, err := c.Images.Layout(t.Context(), picture)
	if err != nil {
		t.Fatal(err)
	}
	part := decode.ImageInput{Picture: picture, Pixels: func() ([]byte, error) { return picture.Pixels(t.Context()) }}
	for _, s := range l {
		part.Cells = max(part.Cells, s.Cells)
	}
	session.Interrupt()
	if _, end, err := session.Encode(part); end != decode.Interrupted {
		t.Errorf("with the flag raised, the computing ends %v, error %v", end, err)
	}
	session.Resume()
	if embedding, end, err := session.Encode(part); end != decode.Computed || len(embedding) != part.Cells*session.width {
		t.Errorf("afterwards it ends %v with %d numbers, error %v", end, len(embedding), err)
	}
}

// jobFor is a job with an image alone.
func jobFor(t *testing.T, m *decode.Model, i engine.Image) chat.Job {
	t.Helper()
	p, err := picture.Open(i.Data, i.MediaType)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := imagePrompt(t.Context(), m, p)
	if err != nil {
		t.Fatal(err)
	}
	return chat.Job{Prompt: tokens, Images: []*prompt.Image{{Picture: p}}}
}

// imagePrompt is a prompt of a picture alone.
func imagePrompt(ctx context.Context, m *decode.Model, p *picture.Picture) ([]int32, error) {
	tokens, err := m.Tokenize(ctx, prompt.Prompt{Spans: []prompt.Span{{Image: &prompt.Image{Picture: p}}}})
	if bos := m.Vocabulary().BOS; err == nil && len(tokens) > 0 && tokens[0] == bos {
		tokens = tokens[1:]
	}
	return tokens, err
}

func TestWrongProjector(t *testing.T) {
	for _, tt := range []struct{ name, model, projector, want string }{
		{"of another model", smallest, projectorFile(t), "the projector makes 896 numbers"},
		{"a text model", seeing, modelFile(t, smallest), "not a projector for images"},
		{"not there", seeing, filepath.Join(t.TempDir(), "none.gguf"), "no such file"},
	} {
		m, err := Open(t.Context(), Options{Path: modelFile(t, tt.model), Projector: tt.projector, Context: 512})
		if err == nil {
			m.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}
