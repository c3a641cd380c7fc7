package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// TestImagePlaces checks that an error about an image has the client's path of its part.
func TestImagePlaces(t *testing.T) {
	source := func(url string) string { return `{"type":"image","source":{"type":"url","url":` + url + `}}` }
	tests := []struct{ name, path, body, place string }{
		{"chat", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"u"},{"role":"user","content":[{"type":"text","text":"t"},{"type":"image_url","image_url":{"url":%}}]}]}`,
			"messages[1].content[1].image_url.url"},
		{"responses", "/v1/responses", `{"model":"m","instructions":"i","input":[{"type":"web_search_call"},{"role":"user","content":"u"},{"type":"item_reference","id":"x"},{"role":"user","content":[{"type":"input_text","text":"t"},{"type":"input_image","image_url":%}]}]}`,
			"input[3].content[1].image_url"},
		{"a result, responses", "/v1/responses", `{"model":"m","input":[{"type":"compaction"},{"type":"function_call","call_id":"1","name":"f"},{"type":"function_call_output","call_id":"1","output":[{"type":"input_image","image_url":%}]}]}`,
			"input[2].output[0].image_url"},
		{"messages", "/v1/messages", `{"model":"m","max_tokens":8,"system":"s","messages":[{"role":"user","content":[{"type":"container_upload","file_id":"x"},{"type":"text","text":"t"},` + source("%") + `]}]}`,
			"messages.0.content.2.source"},
		{"a result, messages", "/v1/messages", `{"model":"m","max_tokens":8,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f"}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"tool_reference","tool_name":"f"},` + source("%") + `]}]}]}`,
			"messages.1.content.0.content.1.source"},
	}
	blind := newHandler(t, handlers.Config{Engine: playing(t, `models: {m: {replies: [{pieces: [x]}]}}`), AllowImageHosts: []string{pictureHost}})
	seeing := newHandler(t, handlers.Config{Engine: openStorm(t)})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			refuse := func(what string, h http.Handler, url string) {
				t.Helper()
				w := post(t, h, tt.path, []byte(strings.ReplaceAll(tt.body, "%", url)))
				if place := placeOf(t, w); w.Code != 400 || place != tt.place {
					t.Errorf("%s: status %d at %q, want 400 at %q", what, w.Code, place, tt.place)
				}
			}
			refuse("a model that takes no images", blind, `"`+servePicture(t)+`"`)
			refuse("an address that gives none", seeing, `"http://localhost:1/x.png"`)
			if tt.path != "/v1/messages" {
				refuse("an image in the request", blind, `"data:image/png;base64,`+pixel+`"`)
				refuse("a file that is no image", seeing, `"data:image/png;base64,AAAA"`)
			}
		})
	}
}

// placeOf returns the path of an error of either style.
func placeOf(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	e, style := errorOf(t, w.Body)
	if style == "openai" {
		return text(e.Param)
	}
	place, _, _ := strings.Cut(e.Message, ": ")
	return place
}

// TestPlacesInStreams checks that an error in a stream has the same path as one before it.
func TestPlacesInStreams(t *testing.T) {
	broken := engine.Errorf(engine.CodeInvalidArgument, "No.").At(engine.Place{Field: engine.FieldTools, Index: 0, Path: "/a"})
	e := &handlerstest.Engine{Name: "m", Events: handlerstest.Text("x")[:3], Err: broken}
	h := newHandler(t, handlers.Config{Engine: e})
	for _, tt := range []struct{ path, body, want string }{
		{"/v1/responses", `{"model":"m","stream":true,"input":"u","tools":[{"type":"web_search"},{"type":"function","name":"f"}]}`, `"param":"tools[1].parameters.a"`},
		{"/v1/messages", `{"model":"m","stream":true,"max_tokens":8,"messages":[{"role":"user","content":"u"}],"tools":[{"type":"web_search_20250305","name":"w"},{"name":"f","input_schema":{}}]}`,
			`"message":"tools.1.input_schema.a: No."`},
	} {
		if w := post(t, h, tt.path, []byte(tt.body)); w.Code != 200 || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s: status %d without %s\n%s", tt.path, w.Code, tt.want, w.Body)
		}
	}
}
