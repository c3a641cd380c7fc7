package contract

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestMeter holds what a request counts that another server may answer at greater length.
func TestMeter(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/refused":
			w.WriteHeader(400)
		case "/large":
			w.WriteHeader(413)
		case "/plain":
			_, _ = io.WriteString(w, `{"usage":{"prompt_tokens":7,"completion_tokens":3}}`)
		case "/stream", "/left":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}\n\n")
			if r.URL.Path == "/left" {
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}
		case "/silent":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {}\n\n")
		}
	}))
	t.Cleanup(server.Close)
	body := `{"max_tokens":50,"pad":"` + strings.Repeat("x", 55) + `"}` // 80 bytes
	for _, tt := range []struct {
		path, body        string
		answered, in, out int
	}{
		{"/plain", body, 1, 7, 3},
		{"/refused", body, 0, 20, 0},
		{"/large", body, 0, 0, 0},
		{"/stream", body, 1, 7, 1},
		{"/left", body, 1, 7, 50},
		{"/silent", body, 1, 20, 50},
		{"/silent", `{"max_completion_tokens":60}`, 1, 7, 60},
		{"/silent", `{"max_output_tokens":"no"}`, 1, 6, 0},
	} {
		m := &meter{next: http.DefaultTransport}
		reply, err := (&http.Client{Transport: m}).Post(server.URL+tt.path, "application/json", strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		if tt.path == "/left" {
			_, _ = reply.Body.Read(make([]byte, 1<<10)) // one event, and not the end
		} else {
			_, _ = io.Copy(io.Discard, reply.Body)
		}
		reply.Body.Close()
		if m.requests != 1 || m.answered != tt.answered || m.in != tt.in || m.out != tt.out {
			t.Errorf("%s %s: %d requests, %d answered, %d in, %d out; want 1, %d, %d, %d", tt.path, tt.body, m.requests, m.answered, m.in, m.out, tt.answered, tt.in, tt.out)
		}
	}
}
