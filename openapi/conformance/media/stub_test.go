package media_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/media"
)

// judge runs one scenario against a handler, with models that are named.
func judge(t *testing.T, handler http.HandlerFunc, name string, marks bool, models conformance.Models) conformance.Result {
	t.Helper()
	documents, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	target := &conformance.Target{BaseURL: server.URL, Documents: documents, Marks: marks, Models: models}
	for _, s := range media.All() {
		if s.Name == name {
			return conformance.Run(t.Context(), target, []conformance.Scenario{s}, conformance.Options{}).Results[0]
		}
	}
	t.Fatalf("no scenario %s", name)
	return conformance.Result{}
}

// TestOtherServers holds that nobody is bound by what is this server's own.
func TestOtherServers(t *testing.T) {
	refuses := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":{"message":"Unknown parameter: 'response_format'."}}`)
	}
	sees := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{}`)
	}
	text, both := conformance.Models{Text: "m"}, conformance.Models{Text: "m", Vision: "v", Image: "i"}
	for _, tt := range []struct {
		about   string
		handler http.HandlerFunc
		name    string
		marks   bool
		models  conformance.Models
		want    conformance.Outcome
	}{
		{"response_format is refused", refuses, "openai/images/b64-json", false, both, conformance.NotOffered},
		{"response_format is refused by us", refuses, "openai/images/b64-json", true, both, conformance.Fail},
		{"a text model sees", sees, "openai/chat/image-without-vision", false, text, conformance.Skipped},
		{"a text model sees beside one that is named", sees, "openai/chat/image-without-vision", false, both, conformance.Fail},
		{"a text model of ours sees", sees, "openai/chat/image-without-vision", true, text, conformance.Fail},
	} {
		if r := judge(t, tt.handler, tt.name, tt.marks, tt.models); r.Outcome != tt.want {
			t.Errorf("%s: %s %s %v, want %s", tt.about, r.Outcome, r.Reason, r.Failures, tt.want)
		}
	}
}

// TestSizesAreDrawnOnce counts what asked-size costs.
func TestSizesAreDrawnOnce(t *testing.T) {
	drawn := 0
	draws := func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		side := 256
		if strings.Contains(string(sent), "512x512") {
			side = 512
		}
		if strings.Contains(string(sent), "prompt") {
			drawn++
		}
		var file bytes.Buffer
		_ = png.Encode(&file, image.NewGray(image.Rect(0, 0, side, side)))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"created":1,"data":[{"b64_json":%q}]}`, base64.StdEncoding.EncodeToString(file.Bytes()))
	}
	r := judge(t, draws, "openai/images/asked-size", true, conformance.Models{Image: "i"})
	if r.Outcome != conformance.Pass || drawn != 2 {
		t.Errorf("%s %v after %d images, want a pass after 2", r.Outcome, r.Failures, drawn)
	}
}
