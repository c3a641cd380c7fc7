package imagegen

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

func TestJob(t *testing.T) {
	usual := Info{Steps: 20, Guidance: 8}
	for _, tt := range []struct {
		name string
		info Info
		req  engine.ImageRequest
		want Job
	}{
		{"no diffusion model", Info{}, engine.ImageRequest{Prompt: "p", Quality: "hd", Style: "vivid", Drawing: engine.Drawing{Steps: 3, Seed: 4}},
			Job{Prompt: "p", Quality: "hd", Style: "vivid", Seed: 4}},
		{"defaults", usual, engine.ImageRequest{Prompt: "p"}, Job{Prompt: "p", Steps: 20, Guidance: 8}},
		{"all is set", usual, engine.ImageRequest{Prompt: "p", Drawing: engine.Drawing{Steps: 3, Guidance: 2, Sampler: "a", Scheduler: "b", NegativePrompt: "n", Seed: 4}},
			Job{Prompt: "p", Steps: 3, Guidance: 2, Sampler: "a", Scheduler: "b", NegativePrompt: "n", Seed: 4}},
		{"low", usual, engine.ImageRequest{Quality: "low"}, Job{Quality: "low", Steps: 10, Guidance: 8}},
		{"lowest", Info{Steps: 1, Guidance: 1}, engine.ImageRequest{Quality: "low"}, Job{Quality: "low", Steps: 1, Guidance: 1}},
		{"medium", usual, engine.ImageRequest{Quality: "medium"}, Job{Quality: "medium", Steps: 20, Guidance: 8}},
		{"standard", usual, engine.ImageRequest{Quality: "standard"}, Job{Quality: "standard", Steps: 20, Guidance: 8}},
		{"high", usual, engine.ImageRequest{Quality: "high"}, Job{Quality: "high", Steps: 40, Guidance: 8}},
		{"hd of a Modelfile's steps", usual, engine.ImageRequest{Quality: "hd", Drawing: engine.Drawing{Steps: 6}}, Job{Quality: "hd", Steps: 12, Guidance: 8}},
		{"xhigh", usual, engine.ImageRequest{Quality: "xhigh"}, Job{Quality: "xhigh", Steps: 60, Guidance: 8}},
		{"max", usual, engine.ImageRequest{Quality: "max"}, Job{Quality: "max", Steps: 80, Guidance: 8}},
		{"vivid", usual, engine.ImageRequest{Prompt: "p", Style: "vivid"},
			Job{Prompt: "p, vivid colours, dramatic light, high contrast", Style: "vivid", Steps: 20, Guidance: 10}},
		{"natural", usual, engine.ImageRequest{Prompt: "p", Style: "natural"},
			Job{Prompt: "p, natural colours, natural light", Style: "natural", Steps: 20, Guidance: 6}},
		{"style of a distilled model", Info{Steps: 4, Guidance: 1}, engine.ImageRequest{Prompt: "p", Style: "vivid"},
			Job{Prompt: "p, vivid colours, dramatic light, high contrast", Style: "vivid", Steps: 4, Guidance: 1}},
	} {
		if diff := cmp.Diff(tt.want, tt.info.job(&tt.req, image.Point{})); diff != "" {
			t.Errorf("%s: job -want +got\n%s", tt.name, diff)
		}
	}
}

// TestParameters: a file has the parameters where other programs look for them, and
// is an intact image.
func TestParameters(t *testing.T) {
	info := Info{Name: "m", Software: "s 1"}
	job := Job{Prompt: "a cat", Size: image.Pt(8, 9), Seed: 5, Steps: 4, Guidance: 1.5}
	plain := "a cat\nSteps: 4, CFG scale: 1.5, Seed: 5, Size: 8x9, Model: m, Version: s 1"
	full := job
	full.NegativePrompt, full.Sampler, full.Scheduler = "a dog", "euler", "karras"
	foreign := job
	foreign.Prompt = "eine Mütze"
	for _, tt := range []struct {
		name, kind, want string
		info             Info
		job              Job
	}{
		{"nothing", "", "", Info{Name: "m"}, job},
		{"plain", "tEXt", plain, info, job},
		{"everything", "tEXt", "a cat\nNegative prompt: a dog\nSteps: 4, CFG scale: 1.5, Seed: 5, Size: 8x9, Model: m, Sampler: euler karras, Version: s 1", info, full},
		{"beyond ASCII", "iTXt", strings.Replace(plain, "a cat", "eine Mütze", 1), info, foreign},
	} {
		file, err := encode(image.NewNRGBA(image.Rectangle{Max: tt.job.Size}), engine.ImageFile{}, tt.info.parameters(tt.job))
		if err != nil {
			t.Fatal(err)
		}
		kind, text := textOf(t, file)
		if kind != tt.kind || text != tt.want {
			t.Errorf("%s: chunk %q with %q, want %q with %q", tt.name, kind, text, tt.kind, tt.want)
		}
		if decoded, err := png.Decode(bytes.NewReader(file)); err != nil || decoded.Bounds().Max != tt.job.Size {
			t.Errorf("%s: decoded with error %v", tt.name, err)
		}
	}
}

// textOf walks the chunks of a PNG file and returns the text.
func textOf(t *testing.T, file []byte) (kind, text string) {
	t.Helper()
	for rest := file[8:]; len(rest) > 0; {
		n := binary.BigEndian.Uint32(rest)
		body, sum := rest[4:8+n], binary.BigEndian.Uint32(rest[8+n:])
		if crc32.ChecksumIEEE(body) != sum {
			t.Fatalf("chunk %s has a wrong checksum", body[:4])
		}
		switch found := string(body[:4]); found {
		case "tEXt":
			kind, text = found, strings.TrimPrefix(string(body[4:]), "parameters\x00")
		case "iTXt":
			kind, text = found, strings.TrimPrefix(string(body[4:]), "parameters\x00\x00\x00\x00\x00")
		}
		rest = rest[12+n:]
	}
	return kind, text
}
