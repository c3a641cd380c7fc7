package imagegen_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/imagegen"
)

// blank draws nothing, and remembers what it should have drawn.
type blank struct {
	jobs   []imagegen.Job
	err    error
	pixels int // most
}

func (b *blank) Info() imagegen.Info {
	return imagegen.Info{
		Name: "org/m", Changed: time.Unix(5, 0),
		Sizes: imagegen.Sizes{Min: 64, Max: 512, Step: 8, Pixels: b.pixels, Default: image.Pt(256, 128)},
	}
}

func (b *blank) Draw(_ context.Context, job imagegen.Job) (image.Image, error) {
	b.jobs = append(b.jobs, job)
	return image.NewGray(image.Rectangle{Max: job.Size}), b.err
}

func (*blank) Close() error { return nil }

func newEngine(b *blank) engine.Engine {
	return imagegen.New(b, func() uint64 { return 40 }, slog.New(slog.DiscardHandler))
}

func TestGenerateImages(t *testing.T) {
	b := &blank{}
	images, err := engine.CollectImages(newEngine(b).GenerateImages(t.Context(), &engine.ImageRequest{
		Model: "org/m", Prompt: "p", Choices: 2, Width: 64, Height: 512, Quality: "q", Style: "s"}))
	if err != nil {
		t.Fatal(err)
	}
	want := []imagegen.Job{
		{Prompt: "p", Size: image.Pt(64, 512), Seed: 40, Quality: "q", Style: "s"},
		{Prompt: "p", Size: image.Pt(64, 512), Seed: 41, Quality: "q", Style: "s"},
	}
	if diff := cmp.Diff(want, b.jobs); diff != "" {
		t.Errorf("jobs -want +got\n%s", diff)
	}
	for i, d := range images {
		config, err := png.DecodeConfig(bytes.NewReader(d.Image.Data))
		if err != nil || config.Width != 64 || config.Height != 512 || d.Image.MediaType != "image/png" {
			t.Errorf("%s of %dx%d, error %v", d.Image.MediaType, config.Width, config.Height, err)
		}
		d.Image = engine.Image{}
		if diff := cmp.Diff(engine.Drawn{Choice: i, Width: 64, Height: 512, Quality: "q", Background: "opaque"}, d); diff != "" {
			t.Errorf("image %d -want +got\n%s", i, diff)
		}
	}
}

func TestSizes(t *testing.T) {
	for _, tt := range []struct {
		width, height int
		ok            bool
	}{
		{0, 0, true}, {64, 64, true}, {512, 512, true}, {72, 80, true},
		{56, 64, false}, {64, 56, false}, {520, 64, false}, {64, 520, false}, {65, 64, false}, {64, 0, false}, {0, 64, false},
	} {
		b := &blank{}
		_, err := engine.CollectImages(newEngine(b).GenerateImages(t.Context(), &engine.ImageRequest{Model: "org/m", Prompt: "p", Choices: 1, Width: tt.width, Height: tt.height}))
		if !tt.ok {
			e := engine.AsError(err)
			if e == nil || e.Code != engine.CodeInvalidArgument || e.Place.Field != engine.FieldSize || !strings.Contains(e.Message, "multiples of 8 from 64 to 512") {
				t.Errorf("%dx%d: error %v", tt.width, tt.height, err)
			}
			continue
		}
		want := image.Pt(tt.width, tt.height)
		if tt.width == 0 {
			want = image.Pt(256, 128)
		}
		if err != nil || len(b.jobs) != 1 || b.jobs[0].Size != want {
			t.Errorf("%dx%d: jobs %v, error %v", tt.width, tt.height, b.jobs, err)
		}
	}
}

// TestMostPixels: memory bounds the product of the sides.
func TestMostPixels(t *testing.T) {
	for size, ok := range map[image.Point]bool{image.Pt(512, 64): true, image.Pt(256, 256): true, image.Pt(264, 256): false, image.Pt(512, 512): false} {
		b := &blank{pixels: 256 * 256}
		_, err := engine.CollectImages(newEngine(b).GenerateImages(t.Context(), &engine.ImageRequest{Model: "org/m", Prompt: "p", Choices: 1, Width: size.X, Height: size.Y}))
		if e := engine.AsError(err); ok != (err == nil) || err != nil && (e.Code != engine.CodeInvalidArgument || e.Place.Field != engine.FieldSize || !strings.Contains(e.Message, "65536 pixels")) {
			t.Errorf("%v: error %v", size, err)
		}
	}
}

// TestRefusals holds the words of what is no picture, or no picture of this
// model.
func TestRefusals(t *testing.T) {
	e := newEngine(&blank{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ask  func() error
		want engine.Error
	}{
		{"another model", func() error {
			_, err := engine.CollectImages(e.GenerateImages(t.Context(), &engine.ImageRequest{Model: "x"}))
			return err
		}, engine.Error{Code: engine.CodeModelNotFound, Message: `The model "x" does not exist.`}},
		{"text", func() error {
			for _, err := range e.Generate(t.Context(), &engine.Request{Model: "org/m"}) {
				return err
			}
			return nil
		}, engine.Error{Code: engine.CodeUnsupported, Message: "The model org/m draws images and does not generate text."}},
		{"a count", func() error {
			_, err := e.Count(t.Context(), &engine.Request{Model: "org/m:latest"})
			return err
		}, engine.Error{Code: engine.CodeUnsupported, Message: "The model org/m draws images and has no tokens to count."}},
		{"a vector", func() error {
			_, err := e.Embed(t.Context(), &engine.EmbeddingRequest{Model: "org/m"})
			return err
		}, engine.Error{Code: engine.CodeUnsupported, Message: "The model org/m draws images and makes no embeddings."}},
		{"nobody waits", func() error {
			_, err := engine.CollectImages(e.GenerateImages(ended, &engine.ImageRequest{Model: "org/m"}))
			return err
		}, engine.Error{Code: engine.CodeCanceled, Message: "The request was canceled."}},
		{"the model fails", func() error {
			_, err := engine.CollectImages(newEngine(&blank{err: engine.Errorf(engine.CodeEngineCrashed, "crash")}).GenerateImages(t.Context(), &engine.ImageRequest{Model: "org/m"}))
			return err
		}, engine.Error{Code: engine.CodeEngineCrashed, Message: "crash"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got *engine.Error
			if !errors.As(tt.ask(), &got) || got.Code != tt.want.Code || got.Message != tt.want.Message {
				t.Errorf("error %v, want %v", got, &tt.want)
			}
		})
	}
}

func TestModels(t *testing.T) {
	got, err := newEngine(&blank{}).Models(t.Context())
	if want := []engine.Model{{Name: "org/m", Owner: "org", Changed: time.Unix(5, 0), Draws: true}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, error %v; want %v", got, err, want)
	}
}

// TestSlowReader: drawing waits for no reader, who could keep all others from their turn.
func TestSlowReader(t *testing.T) {
	e := newEngine(&blank{})
	n := 0
	for event, err := range e.GenerateImages(t.Context(), &engine.ImageRequest{Model: "org/m", Prompt: "p", Choices: 3}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if _, err := engine.CollectImages(e.GenerateImages(t.Context(), &engine.ImageRequest{Model: "org/m", Prompt: "q", Choices: 2})); err != nil {
			t.Errorf("another request while %T is read: %v", event, err)
		}
	}
	if n != 3 {
		t.Errorf("%d images", n)
	}
	for range e.GenerateImages(t.Context(), &engine.ImageRequest{Model: "org/m", Prompt: "p", Choices: 3}) {
		break // a reader who leaves
	}
	if _, err := engine.CollectImages(e.GenerateImages(t.Context(), &engine.ImageRequest{Model: "org/m", Prompt: "q"})); err != nil {
		t.Errorf("after a reader has left: %v", err)
	}
}
