package handlers_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/diglot/diglot/handlers"
)

const picturesModels = `models: {sees: {vision: true, replies: [{pieces: [x]}]}, blind: {replies: [{pieces: [x]}]}}`

// pictureStyles send one picture, as the second part of the second message.
var pictureStyles = []struct{ name, path, body, param string }{
	{"chat", "/v1/chat/completions", `{"model":"%s","messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"t"},{"type":"image_url","image_url":{"url":"%s"}}]}]}`,
		"messages[1].content[1].image_url.url"},
	{"responses", "/v1/responses", `{"model":"%s","instructions":"i","input":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"input_text","text":"t"},{"type":"input_image","image_url":"%s"}]}]}`,
		"input[1].content[1].image_url"},
	{"messages", "/v1/messages", `{"model":"%s","max_tokens":9,"system":"i","messages":[{"role":"user","content":"s"},{"role":"user","content":[{"type":"text","text":"t"},{"type":"image","source":%s}]}]}`,
		"messages.1.content.1.source"},
}

// picturesSource is a picture in the member of a style.
func pictureSource(style, url string) string {
	if style != "messages" {
		return url
	}
	if media, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,"); ok {
		return fmt.Sprintf(`{"type":"base64","media_type":"%s","data":"%s"}`, media, data)
	}
	return fmt.Sprintf(`{"type":"url","url":"%s"}`, url)
}

// TestPictures checks images with a wrong type, scheme or data, and the paths of their
// errors.
func TestPictures(t *testing.T) {
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewRGBA(image.Rect(0, 0, 2, 2)), nil); err != nil {
		t.Fatal(err)
	}
	jpegData := base64.StdEncoding.EncodeToString(photo.Bytes())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/gif") // it is none
		w.Write(photo.Bytes())
	}))
	defer server.Close()
	upper := "HTTP" + strings.TrimPrefix(server.URL, "http")
	h := newHandler(t, handlers.Config{Engine: playing(t, picturesModels), AllowImageHosts: []string{"127.0.0.1"}})
	const fine, refused = 200, 400
	tests := []struct {
		name, url       string
		openAI, message int    // status
		says            string // of an error
	}{
		{"a picture", "data:image/jpeg;base64," + jpegData, fine, fine, ""},
		{"of another type", "data:image/png;base64," + jpegData, fine, refused, "declared as image/png, but its data is image/jpeg"},
		{"by URL, of another type", server.URL, fine, fine, ""},
		{"by URL in capitals", upper, fine, fine, ""},
		{"no picture", "data:image/png;base64,aGVsbG8=", refused, refused, "not an image of a known format"},
		{"half a picture", "data:image/jpeg;base64," + jpegData[:40], refused, refused, "cannot be read"},
		{"nobody there", "http://127.0.0.1:1/", refused, refused, "cannot be reached"},
	}
	for _, tt := range tests {
		for _, style := range pictureStyles {
			t.Run(style.name+"/"+tt.name, func(t *testing.T) {
				want := tt.openAI
				if style.name == "messages" {
					want = tt.message
				}
				w := post(t, h, style.path, fmt.Appendf(nil, style.body, "sees", pictureSource(style.name, tt.url)))
				checkPicture(t, w, want, style.param, tt.says)
			})
		}
	}
	for _, url := range []string{"DATA:image/jpeg;base64,", "data:IMAGE/JPEG;BASE64,", "data:;base64,", "data:application/octet-stream;base64,", "data:image/jpeg;charset=binary;base64,"} {
		for _, style := range pictureStyles[:2] {
			w := post(t, h, style.path, fmt.Appendf(nil, style.body, "sees", url+jpegData))
			checkPicture(t, w, fine, "", "")
		}
	}
}

func checkPicture(t *testing.T, w *httptest.ResponseRecorder, status int, param, says string) {
	t.Helper()
	if w.Code != status {
		t.Errorf("status %d, want %d\n%s", w.Code, status, w.Body)
	}
	if w.Code == 200 {
		return
	}
	e, _ := errorOf(t, w.Body)
	if !strings.Contains(e.Message, says) || !strings.HasPrefix(text(e.Param)+e.Message, param) {
		t.Errorf("%q at %q, want one with %q at %q", e.Message, text(e.Param), says, param)
	}
}

// TestBlindModelFetchesNothing checks that no image is fetched for a model without vision.
func TestBlindModelFetchesNothing(t *testing.T) {
	var hits atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer server.Close()
	h := newHandler(t, handlers.Config{Engine: playing(t, picturesModels), AllowImageHosts: []string{"127.0.0.1"}})
	for _, style := range pictureStyles {
		w := post(t, h, style.path, fmt.Appendf(nil, style.body, "blind", pictureSource(style.name, server.URL)))
		checkPicture(t, w, 400, style.param, "The model blind does not take images.")
	}
	if hits.Load() > 0 {
		t.Errorf("the address was asked %d times", hits.Load())
	}
}
