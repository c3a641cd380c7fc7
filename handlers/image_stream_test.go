package handlers_test

import (
	"bytes"
	"encoding/json"
	"image"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/handlers"
)

// imageEvent is any event of a stream of images.
type imageEvent struct {
	Type                      string
	B64JSON                   []byte `json:"b64_json"`
	Created                   int64  `json:"created_at"`
	Size, Quality, Background string
	Format                    string `json:"output_format"`
	Index                     *int   `json:"partial_image_index"`
}

// TestImageStream checks the events of streams; the contract checks their form and order.
func TestImageStream(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	h := newHandler(t, handlers.Config{Engine: playing(t, imageModels), Clock: func() time.Time { return now }})
	const request = `{"model":"card","prompt":"a cat","size":"64x32","seed":3`
	ask := func(members string) *bytes.Buffer {
		w := post(t, h, "/v1/images/generations", []byte(request+members+`}`))
		if w.Code != http.StatusOK {
			t.Fatalf("%s: status %d: %s", members, w.Code, w.Body)
		}
		return w.Body
	}
	var whole imageReply
	if err := json.Unmarshal(ask(`,"n":2`).Bytes(), &whole); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, members, want, format string }{
		{"no previews", `,"stream":true`, "completed", "png"},
		{"none by number", `,"stream":true,"partial_images":0`, "completed", "png"},
		{"one", `,"stream":true,"partial_images":1`, "partial completed", "png"},
		{"as many as there are", `,"stream":true,"partial_images":3`, "partial partial partial completed", "png"},
		{"two images", `,"stream":true,"partial_images":2,"n":2`, "partial partial completed partial partial completed", "png"},
		{"other files", `,"stream":true,"partial_images":1,"output_format":"jpeg","quality":"hd"`, "partial completed", "jpeg"},
	} {
		var kinds []string
		finished, partial := 0, 0
		for line := range strings.Lines(ask(tt.members).String()) {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok {
				continue
			}
			var e imageEvent
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				t.Fatal(err)
			}
			config, format, err := image.DecodeConfig(bytes.NewReader(e.B64JSON))
			if err != nil || config.Width != 64 || config.Height != 32 || format != tt.format || e.Format != tt.format || e.Size != "64x32" || e.Created != now.Unix() || e.Background != "opaque" {
				t.Errorf("%s: %s with %s of %dx%d, error %v", tt.name, e.Type, format, config.Width, config.Height, err)
			}
			if e.Index != nil {
				if *e.Index != partial {
					t.Errorf("%s: preview %d where %d is next", tt.name, *e.Index, partial)
				}
				partial++
				kinds = append(kinds, "partial")
				continue
			}
			if tt.format == "png" && !bytes.Equal(e.B64JSON, whole.Data[finished].B64JSON) {
				t.Errorf("%s: image %d is not the one of a reply that is not streamed", tt.name, finished)
			}
			finished, partial = finished+1, 0
			kinds = append(kinds, "completed")
		}
		if got := strings.Join(kinds, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
