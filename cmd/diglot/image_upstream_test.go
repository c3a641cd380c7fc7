package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestImagesOfAnUpstream draws through a model of another server, which answers as
// servers do: with base64, with a URL, in its own words, or with an error.
func TestImagesOfAnUpstream(t *testing.T) {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 48, 16))); err != nil {
		t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString(file.Bytes())
	var far *httptest.Server
	far = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/p.png" {
			if r.Header.Get("Authorization") != "" {
				t.Error("a key was sent with the request for an image")
			}
			_, _ = w.Write(file.Bytes())
			return
		}
		if r.URL.Path == "/q.png" {
			http.NotFound(w, r)
			return
		}
		var asked struct{ Prompt string }
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &asked)
		if !bytes.Contains(body, []byte(`"response_format":"b64_json"`)) {
			t.Errorf("the server is asked %s", body)
		}
		w.Header().Set("Content-Type", "application/json")
		switch asked.Prompt {
		case "base64":
			_, _ = fmt.Fprintf(w, `{"created":1,"data":[{"b64_json":%q}],"quality":"high","usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7,"input_tokens_details":{"text_tokens":3,"image_tokens":0}}}`, text)
		case "url":
			_, _ = fmt.Fprintf(w, `{"created":1,"data":[{"url":"%s/p.png?signature=secret"}]}`, far.URL)
		case "lost":
			_, _ = fmt.Fprintf(w, `{"created":1,"data":[{"url":"%s/q.png?signature=secret"}]}`, far.URL)
		case "refused":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"no such size","type":"invalid_request_error","param":"size"}}`)
		case "broken":
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer far.Close()
	u := newUser(t)
	u.must("login", far.URL, "--no-key")
	u.must("create", "far", "--quiet", "-f", u.write("far", fmt.Sprintf("FROM %s/v1\nPARAMETER model m\n", far.URL)))
	host, _, _ := net.SplitHostPort(far.Listener.Addr().String())
	open, _ := u.serve("--allow-image-host", host, "--socket", "none")
	closed, _ := u.serve("--socket", "none")
	const described = `"output_format":"png","quality":"high","size":"48x16","usage":{"total_tokens":7,"input_tokens":3,"output_tokens":4,"input_tokens_details":{"text_tokens":3,"image_tokens":0}}}`
	for _, tt := range []struct {
		name, url, prompt, members string
		status                     int
		want                       string // a part of the reply
	}{
		{"base64", closed, "base64", "", 200, `"data":[{"b64_json":"` + text + `"}],` + described},
		{"a URL", open, "url", "", 200, `"data":[{"b64_json":"` + text + `"}],"output_format":"png","size":"48x16"}`},
		{"a URL of a private address", closed, "url", "", 502, "sent the URL of an image that cannot be used"},
		{"a URL without an image", open, "lost", "", 502, "sent the URL of an image that cannot be used"},
		{"a refused size", closed, "refused", "", 400, `"param":"size"`},
		{"a server that fails", closed, "broken", "", 502, `"server_error"`},
		{"a stream", open, "url", `,"stream":true,"partial_images":2`, 200, `"type":"image_generation.completed","b64_json":"` + text + `"`},
		{"a stream that fails", closed, "url", `,"stream":true`, 502, "cannot be used"},
	} {
		reply := post(t, tt.url+imagesPath, fmt.Sprintf(`{"model":"far","prompt":%q%s}`, tt.prompt, tt.members))
		body, err := io.ReadAll(reply.Body)
		if err != nil || reply.StatusCode != tt.status || !strings.Contains(string(body), tt.want) {
			t.Errorf("%s: status %d, error %v, want %d with %s:\n%s", tt.name, reply.StatusCode, err, tt.status, tt.want, body)
		}
		if strings.Contains(string(body), "secret") || strings.Contains(string(body), host) {
			t.Errorf("%s: the reply tells the server's address:\n%s", tt.name, body)
		}
	}
}
