package handlers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/handlers"
)

const imageModels = `models: {card: {image: true}, m: {replies: [{pieces: [x]}]}, e: {embedding: 8}}`

// imageReply is a reply with images.
type imageReply struct {
	Created int64
	Data    []struct {
		B64JSON []byte `json:"b64_json"`
	}
	Size, Quality, Background string
	Format                    string `json:"output_format"`
	Usage                     any
}

// TestImageFiles has the formats of files, and what replies say of the images.
func TestImageFiles(t *testing.T) {
	h := newHandler(t, handlers.Config{Engine: playing(t, imageModels)})
	size := map[string]int{}
	for _, tt := range []struct{ name, members, mediaType, format, quality, ignored string }{
		{"png", `"output_format":"png"`, "image/png", "png", "medium", ""},
		{"jpeg", `"output_format":"jpeg"`, "image/jpeg", "jpeg", "medium", ""},
		{"jpeg of half", `"output_format":"jpeg","output_compression":50,"quality":"hd"`, "image/jpeg", "jpeg", "high", ""},
		{"jpeg of nothing", `"output_format":"jpeg","output_compression":0,"quality":"standard"`, "image/jpeg", "jpeg", "medium", ""},
		{"png of half", `"output_compression":50,"quality":"max"`, "image/png", "png", "max", "output_compression"},
		{"png by name, of half", `"output_format":"png","output_compression":50,"quality":"low"`, "image/png", "png", "low", "output_compression"},
	} {
		w := post(t, h, "/v1/images/generations", []byte(`{"model":"card","prompt":"a cat","size":"300x200",`+tt.members+`}`))
		var got imageReply
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 {
			t.Fatalf("%s: status %d, error %v: %.300s", tt.name, w.Code, err, w.Body)
		}
		file := got.Data[0].B64JSON
		size[tt.name] = len(file)
		if is := http.DetectContentType(file); is != tt.mediaType || got.Format != tt.format || got.Quality != tt.quality || got.Size != "300x200" {
			t.Errorf("%s: a file of %s; the reply says %s, quality %s, %s", tt.name, is, got.Format, got.Quality, got.Size)
		}
		if ignored := w.Header().Get("Diglot-Ignored"); ignored != tt.ignored {
			t.Errorf("%s: ignored %q, want %q", tt.name, ignored, tt.ignored)
		}
		if decoded, _, err := image.Decode(bytes.NewReader(file)); err != nil || decoded.Bounds().Size() != image.Pt(300, 200) {
			t.Errorf("%s: decoded with error %v", tt.name, err)
		}
	}
	if !(size["jpeg of nothing"] < size["jpeg of half"] && size["jpeg of half"] < size["jpeg"]) {
		t.Errorf("sizes %v", size)
	}
}

// TestImages checks that each picture is a whole PNG of the size that was
// asked for.
func TestImages(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	h := newHandler(t, handlers.Config{Engine: playing(t, imageModels), Clock: func() time.Time { return now }})
	tests := []struct {
		name, members        string
		count, width, height int
	}{
		{"the least", ``, 1, 1024, 1024},
		{"null is none", `,"n":null,"size":null,"quality":null,"style":null,"response_format":null,"user":null,"stream":null,"background":null`, 1, 1024, 1024},
		{"as the model likes", `,"size":"auto","quality":"auto","background":"auto"`, 1, 1024, 1024},
		{"as a framework asks", `,"n":1,"size":"256x256","response_format":"b64_json","style":"vivid","quality":"standard"`, 1, 256, 256},
		{"several", `,"n":10,"size":"16x2048"`, 10, 16, 2048},
		{"what is already so", `,"size":"64x32","stream":false,"partial_images":0,"output_format":"png","background":"opaque","output_compression":90,"moderation":"low"`, 1, 64, 32},
		{"as the newest client asks", `,"size":"64x32","quality":"xhigh","safety_identifier":"s","complexity":"low"`, 1, 64, 32},
		{"the best", `,"size":"64x32","quality":"max"`, 1, 64, 32},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := post(t, h, "/v1/images/generations", []byte(`{"model":"card","prompt":"a cat"`+tt.members+`}`))
			var got imageReply
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 {
				t.Fatalf("status %d, error %v: %.300s", w.Code, err, w.Body)
			}
			if got.Size != fmt.Sprintf("%dx%d", tt.width, tt.height) || got.Format != "png" || got.Background != "opaque" || got.Quality == "" || got.Usage != nil {
				t.Errorf("reply %.300s", w.Body)
			}
			if got.Created != now.Unix() || len(got.Data) != tt.count {
				t.Errorf("%d pictures made at %d, want %d at %d", len(got.Data), got.Created, tt.count, now.Unix())
			}
			seen := map[string]bool{}
			for i, d := range got.Data {
				picture, err := png.Decode(bytes.NewReader(d.B64JSON))
				if err != nil {
					t.Fatal(err)
				}
				if size := picture.Bounds().Size(); size.X != tt.width || size.Y != tt.height {
					t.Errorf("picture %d is %v, want %dx%d", i, size, tt.width, tt.height)
				}
				if seen[string(d.B64JSON)] {
					t.Errorf("picture %d is one of those before", i)
				}
				seen[string(d.B64JSON)] = true
			}
		})
	}
}

// TestImagesFail checks errors of image generation and their paths.
func TestImagesFail(t *testing.T) {
	h := newHandler(t, handlers.Config{Engine: playing(t, imageModels)})
	const images = "/v1/images/generations"
	drawing := func(members string) string { return `{"model":"card","prompt":"p",` + members + `}` }
	tests := []struct {
		name, path, body string
		status           int
		param, code      string
		message          string // a part of it
	}{
		{"too small", images, drawing(`"size":"15x16"`), 400, "size", "", "from 16 to 2048 pixels, not 15x16"},
		{"too large", images, drawing(`"size":"2048x2049"`), 400, "size", "", "not 2048x2049"},
		{"no size", images, drawing(`"size":"0x0"`), 400, "size", "", ""},
		{"a size in words", images, drawing(`"size":"large"`), 400, "size", "", ""},
		{"a size with a sign", images, drawing(`"size":"-16x16"`), 400, "size", "", ""},
		{"a size beyond numbers", images, drawing(`"size":"99999999999999999999x16"`), 400, "size", "", ""},
		{"none", images, drawing(`"n":0`), 400, "n", "", ""},
		{"eleven", images, drawing(`"n":11`), 400, "n", "", ""},
		{"a URL", images, drawing(`"response_format":"url"`), 400, "response_format", "unsupported_value", "there is no URL"},
		{"another file", images, drawing(`"output_format":"webp"`), 400, "output_format", "unsupported_value", "no reliable WebP encoder"},
		{"a compression beyond all", images, drawing(`"output_format":"jpeg","output_compression":101`), 400, "output_compression", "", ""},
		{"an animation", images, drawing(`"output_format":"gif","frame_count":4`), 400, "output_format", "unsupported_value", "PNG"},
		{"transparent", images, drawing(`"background":"transparent"`), 400, "background", "unsupported_value", ""},
		{"a quality of its own", images, drawing(`"quality":"best"`), 400, "quality", "", ""},
		{"no prompt", images, `{"model":"card"}`, 400, "prompt", "", ""},
		{"an empty prompt", images, `{"model":"card","prompt":""}`, 400, "prompt", "", ""},
		{"no model", images, `{"prompt":"p"}`, 400, "model", "", ""},
		{"an unknown model", images, `{"model":"x","prompt":"p"}`, 404, "model", "model_not_found", "does not exist"},
		{"a model that writes", images, `{"model":"m","prompt":"p"}`, 404, "model", "model_not_found", "The model m draws no images."},
		{"a model that embeds", images, `{"model":"e","prompt":"p"}`, 404, "model", "model_not_found", "The model e draws no images."},
		{"a chat", "/v1/chat/completions", strings.Replace(chatBody, `"m"`, `"card"`, 1), 400, "model", "unsupported_value", "The model card draws images and does not generate text."},
		{"a chat in a stream", "/v1/chat/completions", strings.Replace(styles[0].stream, `"m"`, `"card"`, 1), 400, "model", "unsupported_value", "does not generate text"},
		{"a completion", "/v1/completions", `{"model":"card","prompt":"p"}`, 400, "model", "unsupported_value", "does not generate text"},
		{"an embedding", "/v1/embeddings", `{"model":"card","input":"p"}`, 400, "model", "unsupported_value", "makes no embeddings"},
		{"a message", "/v1/messages", strings.Replace(messagesBody, `"m"`, `"card"`, 1), 400, "", "", "model: The model card draws images and does not generate text."},
		{"a count", "/v1/messages/count_tokens", strings.Replace(messagesBody, `"m"`, `"card"`, 1), 400, "", "", "has no tokens to count"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := post(t, h, tt.path, []byte(tt.body))
			e, _ := errorOf(t, w.Body)
			got := fmt.Sprintf("%d %q %q", w.Code, text(e.Param), text(e.Code))
			if want := fmt.Sprintf("%d %q %q", tt.status, tt.param, tt.code); got != want || !strings.Contains(e.Message, tt.message) {
				t.Errorf("%s: %q, want %s with %q", got, e.Message, want, tt.message)
			}
		})
	}
}
