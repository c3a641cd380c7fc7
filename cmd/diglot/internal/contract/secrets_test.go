package contract

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/openapi/conformance"
)

func TestSecrets(t *testing.T) {
	for _, tt := range []struct {
		name, header, value string
		want, never         []string
	}{
		{"after the scheme", "Authorization", "Bearer sk-headersecret77", []string{"sk-headersecret77", "Bearer sk-headersecret77"}, []string{"Bearer"}},
		{"Basic", "Authorization", "Basic dXNlcjpodXNoMQ==", []string{"dXNlcjpodXNoMQ==", "dXNlcjpodXNoMQ", "user:hush1", "hush1"}, []string{"user", "Basic"}},
		{"a cookie", "Cookie", "a=1; session=0123456789", []string{"0123456789"}, []string{"a", "1"}},
		{"a short value", "X-Tier", "1", nil, []string{"1"}},
		{"a word", "X-Team", "hush", nil, []string{"hush"}},
		{"a short secret", "X-Api-Key", "hush", []string{"hush"}, nil},
		{"too short for a secret", "X-Api-Key", "abc", nil, []string{"abc"}},
	} {
		o := verifyOptions{header: flagvalue.Headers{tt.header: {tt.value}}}
		got := o.secrets(&conformance.Target{})
		for _, want := range tt.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %q is not among %q", tt.name, want, got)
			}
		}
		for _, never := range tt.never {
			if slices.Contains(got, never) {
				t.Errorf("%s: %q is among %q", tt.name, never, got)
			}
		}
	}
	o := verifyOptions{baseURL: "http://user:hush1@h"}
	if got := o.secrets(&conformance.Target{}); !slices.Contains(got, "hush1") || !slices.Contains(got, "dXNlcjpodXNoMQ==") {
		t.Errorf("base URL: %q", got)
	}
}

// TestVerifyHidesEchoedSecrets has a server that tells the key which it got.
func TestVerifyHidesEchoedSecrets(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "bad key "+key+", "+key[:6]+"\x01"+key[6:]+", "+strings.ReplaceAll(key, "/", `\/`))
	}))
	t.Cleanup(server.Close)
	_, stdout, stderr := verifyWith(t.Context(), nil, "--base-url", server.URL, "--model", model, "--only", "openai/chat/usage/sum",
		"--header", "Authorization: Bearer sk-header/secret77", "--header", "X-Tier: 1")
	if strings.Contains(stdout+stderr, "secret77") || strings.Count(stdout, "[secret]") != 3 || !strings.Contains(stdout, "1 failed") {
		t.Errorf("%s%s", stdout, stderr)
	}
}
