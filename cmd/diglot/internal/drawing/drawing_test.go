package drawing

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-sixel"

	"github.com/diglot/diglot/engine"
)

func TestSet(t *testing.T) {
	var got engine.ImageRequest
	for _, one := range []string{"seed=0", "steps=3", "cfg_scale=1.5", "sampler=euler", "scheduler=karras", "negative_prompt=a=b", "size=64x128", "quality=hd", "style=vivid"} {
		name, value, _ := strings.Cut(one, "=")
		if err := Set(&got, name, value); err != nil {
			t.Errorf("%s: %v", one, err)
		}
	}
	want := engine.ImageRequest{Width: 64, Height: 128, Quality: "hd", Style: "vivid",
		Drawing: engine.Drawing{Seeded: true, Steps: 3, Guidance: 1.5, Sampler: "euler", Scheduler: "karras", NegativePrompt: "a=b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for _, one := range []string{
		"seed=-1", "seed=9223372036854775808", "seed=", "steps=0", "steps=1001", "steps=x", "cfg_scale=0", "cfg_scale=NaN", "cfg_scale=+Inf",
		"size=64", "size=64x", "size=0x64", "size=64x-64", "quality=best", "style=", "temperature=1",
	} {
		name, value, _ := strings.Cut(one, "=")
		if err := Set(&got, name, value); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", one, err)
		}
	}
}

// pen draws one file.
type pen struct {
	engine.Engine
	file []byte
	got  *engine.ImageRequest
	err  error
}

func (p *pen) GenerateImages(_ context.Context, req *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	p.got = req
	return func(yield func(engine.Event, error) bool) {
		yield(engine.Drawn{Image: engine.Image{Data: p.file, MediaType: "image/png"}}, p.err)
	}
}

func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	const text = "\x00tEXtparameters\x00Seed: 1, Size: 2x2\nSteps: 3, Seed: 42, Size: 64x64, Model: m"
	p := &pen{file: []byte(text)}
	var out bytes.Buffer
	run := func(path string) error {
		out.Reset()
		return Run(t.Context(), Options{Engine: p, Request: engine.ImageRequest{Prompt: "A red  house!"}, Path: path, Out: &out, Notes: &out})
	}
	for _, tt := range []struct{ path, file, printed string }{
		{"", "a-red-house-42.png", "a-red-house-42.png\n"},
		{"", "a-red-house-42-2.png", "a-red-house-42-2.png\n"},
		{"x.png", "x.png", "x.png\n"},
		{"x.png", "x.png", "x.png\n"},
		{"-", "", text},
	} {
		if err := run(tt.path); err != nil || out.String() != tt.printed {
			t.Errorf("%q: printed %q, error %v", tt.path, &out, err)
		}
		if tt.file == "" {
			continue
		}
		if got, err := os.ReadFile(tt.file); err != nil || string(got) != text {
			t.Errorf("%q: the file has %q, error %v", tt.path, got, err)
		}
	}
	if p.got.Choices != 1 {
		t.Errorf("asked for %d images", p.got.Choices)
	}
	p.err = engine.Errorf(engine.CodeInternal, "no")
	if err := run("y.png"); err != p.err {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat("y.png"); err == nil {
		t.Error("there is a file after an error")
	}
	if err := func() error { p.err = nil; return run(filepath.Join("no", "folder.png")) }(); err == nil {
		t.Error("a file was written where there is no folder")
	}
}

func TestFileName(t *testing.T) {
	for _, tt := range []struct{ prompt, seed, want string }{
		{"a cat", "5", "a-cat-5"},
		{"  Zürich, bei Nacht/../..", "", "zürich-bei-nacht"},
		{"...", "1", "image-1"},
		{strings.Repeat("ab ", 100), "1", strings.Repeat("ab-", 20) + "-1"},
	} {
		if got := fileName(tt.prompt, tt.seed); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.prompt, got, tt.want)
		}
	}
}

func TestPreview(t *testing.T) {
	picture := image.NewNRGBA(image.Rect(0, 0, 2, 2))
	for i, c := range []color.NRGBA{{1, 2, 3, 255}, {4, 5, 6, 255}, {7, 8, 9, 255}, {10, 11, 12, 255}} {
		picture.SetNRGBA(i%2, i/2, c)
	}
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, variable, value, want string // what it begins with
	}{
		{"half blocks", "TERM", "xterm-256color", "\x1b[38;2;1;2;3m\x1b[48;2;7;8;9m▀\x1b[38;2;4;5;6m\x1b[48;2;10;11;12m▀\x1b[0m\n"},
		{"kitty", "KITTY_WINDOW_ID", "1", "\x1b_Ga=T,f=100,m=0;iVBOR"},
		{"sixels", "TERM", "foot", "\x1bP"},
		{"iTerm2", "TERM_PROGRAM", "iTerm.app", "\x1b]1337;File=inline=1;size="},
	} {
		got := preview(picture, file.Bytes(), func(name string) string {
			return map[string]string{tt.variable: tt.value}[name]
		}, func() bool { return tt.name == "sixels" })
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	long := kitty(make([]byte, 2*kittyChunk))
	if strings.Count(long, "m=1;") != 2 || strings.Count(long, "m=0;") != 1 || strings.Count(long, "a=T") != 1 {
		t.Errorf("a long file is sent as %.200q", long)
	}
	for _, size := range []image.Point{{3, 5}, {2000, 100}, {1, 3000}} {
		colourful := image.NewNRGBA(image.Rectangle{Max: size})
		for i := range colourful.Pix {
			colourful.Pix[i] = uint8(i) | 0x80
		}
		text, err := sixelsOf(colourful)
		if err != nil {
			t.Fatal(err)
		}
		var shown image.Image
		if err := sixel.NewDecoder(strings.NewReader(text)).Decode(&shown); err != nil {
			t.Fatal(err)
		}
		if got := shown.Bounds().Size(); got.X > sixelSide || got.Y > sixelSide+6 || size.X <= sixelSide && got.X != size.X {
			t.Errorf("%v is shown as %v", size, got)
		}
	}
	if wide := blocks(image.NewNRGBA(image.Rect(0, 0, 2000, 10))); strings.Count(wide, "\n") != 1 || strings.Count(wide, "▀") != previewColumns {
		t.Errorf("a wide picture: %q", wide)
	}
}
