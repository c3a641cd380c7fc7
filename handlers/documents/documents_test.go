package documents

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/diglot/diglot/openapi"
)

func files(t *testing.T, keys bool) Files {
	t.Helper()
	all, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return New(all, keys)
}

func ask(t *testing.T, f Files, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	file, err := f.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	file.ServeHTTP(w, r)
	return w
}

func TestFiles(t *testing.T) {
	all := files(t, false)
	for path, want := range map[string]struct{ mediaType, begins string }{
		"/openapi/openai.yaml":        {"application/yaml", "openapi: 3.2.0\n"},
		"/openapi/openai.json":        {"application/json", "{\n  \"openapi\": \"3.2.0\","},
		"/openapi/openai-3.1.yaml":    {"application/yaml", "openapi: 3.1.1\n"},
		"/openapi/openai-3.1.json":    {"application/json", "{\n  \"openapi\": \"3.1.1\","},
		"/openapi/anthropic.yaml":     {"application/yaml", "openapi: 3.2.0\n"},
		"/openapi/anthropic.json":     {"application/json", "{\n  \"openapi\": \"3.2.0\","},
		"/openapi/anthropic-3.1.yaml": {"application/yaml", "openapi: 3.1.1\n"},
		"/openapi/anthropic-3.1.json": {"application/json", "{\n  \"openapi\": \"3.1.1\","},
	} {
		if !all.Has(path) {
			t.Errorf("%s is missing", path)
			continue
		}
		w := ask(t, all, path)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != want.mediaType || !bytes.HasPrefix(w.Body.Bytes(), []byte(want.begins)) {
			t.Errorf("%s: %d, %s\n%.60s", path, w.Code, w.Header().Get("Content-Type"), w.Body)
		}
		again := ask(t, all, path, "If-None-Match", w.Header().Get("ETag"))
		if again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s: a client that has it gets %d with %d bytes", path, again.Code, again.Body.Len())
		}
	}
	if all.Has("/openapi/") || all.Has("/openapi/openai.yaml/") {
		t.Error("a path that is no file is served")
	}
}

// TestKeys checks that a server with keys says that one is needed.
func TestKeys(t *testing.T) {
	for keys, want := range map[bool]string{false: `[{},{"bearerKey":[]}]`, true: `[{"bearerKey":[]}]`} {
		var document struct{ Security json.RawMessage }
		if err := json.Unmarshal(ask(t, files(t, keys), "/openapi/openai.json").Body.Bytes(), &document); err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := json.Compact(&got, document.Security); err != nil || got.String() != want {
			t.Errorf("keys %v: security %s, want %s", keys, got.String(), want)
		}
	}
}
