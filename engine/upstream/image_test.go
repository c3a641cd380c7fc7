package upstream

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// TestImages has replies of different servers to one request.
func TestImages(t *testing.T) {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString(file.Bytes())
	data := func(members string) string {
		return `{"created":1,` + members + `"data":[{"b64_json":"` + text + `"}]}`
	}
	plain := engine.Drawn{Image: engine.Image{Data: file.Bytes(), MediaType: "image/png"}, Width: 3, Height: 2}
	full := plain
	full.Quality, full.Background, full.Usage = "high", "opaque", engine.ImageUsage{InputTokens: 5, OutputTokens: 7, TextTokens: 4, ImageTokens: 1}
	tests := []struct {
		name   string
		status int
		body   string
		want   engine.Drawn
		code   engine.Code
	}{
		{"a picture", 200, data(``), plain, ""},
		{"all that is known", 200, data(`"quality":"high","background":"opaque","usage":{"input_tokens":5,"output_tokens":7,"total_tokens":12,"input_tokens_details":{"text_tokens":4,"image_tokens":1}},`), full, ""},
		{"words of its own", 200, data(`"quality":"superb","background":"cats","usage":{"input_tokens":-5},`), plain, ""},
		{"an address", 200, `{"created":1,"data":[{"url":"https://example.com/p.png"}]}`, engine.Drawn{Image: engine.Image{URL: "https://example.com/p.png"}}, ""},
		{"both", 200, `{"created":1,"data":[{"url":"https://example.com/p.png","b64_json":"` + text + `"}]}`, plain, ""},
		{"neither", 200, `{"created":1,"data":[{}]}`, engine.Drawn{}, engine.CodeEngineCrashed},
		{"no base64", 200, `{"created":1,"data":[{"b64_json":"=="}]}`, engine.Drawn{}, engine.CodeEngineCrashed},
		{"no picture", 200, `{"created":1,"data":[{"b64_json":"aGVsbG8="}]}`, engine.Drawn{}, engine.CodeEngineCrashed},
		{"too few", 200, `{"created":1,"data":[]}`, engine.Drawn{}, engine.CodeEngineCrashed},
		{"no such operation", 404, `{"error":{"message":"File Not Found","code":404}}`, engine.Drawn{}, engine.CodeModelNotFound},
		{"a wrong size", 400, `{"error":{"message":"boom","param":"size"}}`, engine.Drawn{}, engine.CodeInvalidArgument},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, p := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, _ int) { status(w, tt.status, tt.body) })
			got, err := engine.CollectImages(e.GenerateImages(t.Context(), &engine.ImageRequest{Model: "m", Prompt: "a cat", Choices: 1, Width: 64, Height: 32, Quality: "low", Style: "vivid"}))
			const want = `{"model":"m","prompt":"a cat","n":1,"size":"64x32","quality":"low","style":"vivid","response_format":"b64_json"}`
			if diff := cmp.Diff(sorted(t, want), sorted(t, p.last().body)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if tt.code != "" {
				if code := coded(t, err).Code; code != tt.code {
					t.Errorf("%v, want %s", err, tt.code)
				}
				return
			}
			if diff := cmp.Diff([]engine.Drawn{tt.want}, got); err != nil || diff != "" {
				t.Errorf("error %v, -want +got\n%s", err, diff)
			}
		})
	}
}

// TestImageFields: what a server refuses is left out the next time, and named as ignored
// if the client asked for it.
func TestImageFields(t *testing.T) {
	e, p := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request, _ int) {
		text, _ := io.ReadAll(r.Body)
		for _, field := range []string{"response_format", "output_compression", "seed"} {
			if bytes.Contains(text, []byte(field)) {
				status(w, 400, `{"error":{"message":"Unknown parameter: '`+field+`'.","param":"`+field+`","code":"unknown_parameter"}}`)
				return
			}
		}
		status(w, 200, `{"created":1,"data":[{"url":"https://example.com/p.png"}]}`)
	})
	req := &engine.ImageRequest{Model: "m", Prompt: "p", Choices: 1, File: engine.ImageFile{Format: "jpeg", Quality: 80}, Drawing: engine.Drawing{Seed: 3, Seeded: true}}
	for range 2 {
		var ignored []string
		for event, err := range e.GenerateImages(t.Context(), req) {
			if err != nil {
				t.Fatal(err)
			}
			if start, ok := event.(engine.Start); ok {
				ignored = start.Ignored
			}
		}
		slices.Sort(ignored)
		if want := []string{"output_compression", "seed"}; !slices.Equal(ignored, want) {
			t.Errorf("ignored %q, want %q", ignored, want)
		}
	}
	if diff := cmp.Diff(sorted(t, `{"model":"m","prompt":"p","n":1,"output_format":"jpeg"}`), sorted(t, p.last().body)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}
