package conformance

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/openapi"
)

// stub answers requests without a network.
type stub func(*http.Request) (*http.Response, error)

func (s stub) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

// stubbed is a target whose server is a function.
func stubbed(t *testing.T, s stub) *Target {
	t.Helper()
	documents, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return &Target{BaseURL: "http://server", Documents: documents, Client: &http.Client{Transport: s}}
}

func answer(status int, header ...string) *http.Response { return answerWith(status, "{}", header...) }

func answerWith(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func TestRateLimits(t *testing.T) {
	for _, tt := range []struct {
		name         string
		header       []string
		statuses     []int
		want, status int // requests, and the last status
	}{
		{"none", nil, []int{200}, 1, 200},
		{"429 twice", []string{"Retry-After", "0"}, []int{429, 429, 200}, 3, 200},
		{"503 that says when", []string{"Retry-After", "0"}, []int{503, 200}, 2, 200},
		{"529 that says when", []string{"Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT"}, []int{529, 200}, 2, 200},
		{"503 that does not", nil, []int{503, 200}, 1, 503},
		{"too long to wait for", []string{"Retry-After", "3600"}, []int{429, 200}, 1, 429},
		{"without end", []string{"Retry-After", "0"}, []int{429, 429, 429, 429, 429, 429, 429}, maxTries, 429},
	} {
		sent := 0
		target := stubbed(t, func(*http.Request) (*http.Response, error) {
			sent++
			return answer(tt.statuses[sent-1], tt.header...), nil
		})
		x, err := target.send(t.Context(), Request{Path: "/v1/models"})
		if err != nil || sent != tt.want || x.Status != tt.status {
			t.Errorf("%s: %v, %d requests, status %d; want %d and %d", tt.name, err, sent, x.Status, tt.want, tt.status)
		}
		want := aspectType // they have none
		if tt.status == 429 {
			want = aspectStatus
		}
		if found, sent := target.deviations(operation{OpenAI, "listModels"}, want); !sent || len(found) != 1 {
			t.Errorf("%s: of its replies, %d are judged, want the last", tt.name, len(found))
		}
	}
}

// TestServerGone ends the run at the first connection that is refused.
func TestServerGone(t *testing.T) {
	sent := 0
	target := stubbed(t, func(*http.Request) (*http.Response, error) {
		if sent++; sent > 1 {
			return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
		}
		return answer(200, "Content-Type", "application/json"), nil
	})
	ask := func(name string) Scenario {
		return Scenario{Name: "openai/" + name, Run: func(t *Trial) { t.OK(Request{Path: "/v1/models"}) }}
	}
	report := Run(t.Context(), target, []Scenario{ask("a"), ask("b"), ask("c")}, Options{})
	var got []Outcome
	for _, r := range report.Results {
		got = append(got, r.Outcome)
	}
	if want := []Outcome{Pass, Skipped, Skipped}; !slices.Equal(got, want) || report.Err == nil || sent != 2 {
		t.Errorf("outcomes %v, want %v; error %v; %d requests", got, want, report.Err, sent)
	}
}

// TestSecretHeaders holds that neither a key nor a header of the user is in what is shown.
func TestSecretHeaders(t *testing.T) {
	target := stubbed(t, func(r *http.Request) (*http.Response, error) {
		if r.Header.Get("X-Team") != "hush" || r.Header.Get("Authorization") != "Bearer sk-1" {
			t.Errorf("sent %v", r.Header)
		}
		return answer(200), nil
	})
	target.BaseURL = "http://user:hidden@server/v1"
	target.Key, target.Header = "sk-1", http.Header{"X-Team": {"hush"}}
	x, err := target.send(t.Context(), Request{Path: "/v1/models"})
	if err != nil {
		t.Fatal(err)
	}
	curl := x.Curl()
	for _, secret := range []string{"hush", "sk-1", "hidden"} {
		if strings.Contains(curl, secret) {
			t.Errorf("%s is in %s", secret, curl)
		}
	}
	if want := `-H "x-team: $X_TEAM"`; !strings.Contains(curl, want) {
		t.Errorf("%s is not in %s", want, curl)
	}
}
