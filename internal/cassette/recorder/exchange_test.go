package recorder

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// once is a body that can be read to its end, and then fails.
type once struct {
	io.Reader
	ended bool
}

func (o *once) Read(p []byte) (int, error) {
	if o.ended {
		return 0, errors.New("closed")
	}
	n, err := o.Reader.Read(p)
	o.ended = err == io.EOF
	return n, err
}

func (o *once) Close() error { return nil }

// TestRequestBody reads what is forwarded after the server has closed the body.
func TestRequestBody(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit int64
		whole bool
	}{
		{"kept", 4, true},
		{"too large to be kept", 3, false},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", &once{Reader: strings.NewReader("body")})
		if err != nil {
			t.Fatal(err)
		}
		var e exchange
		e.takeRequest(r, tt.limit)
		got, err := io.ReadAll(r.Body)
		if string(got) != "body" || (err != nil) || (e.problem == nil) != tt.whole {
			t.Errorf("%s: forwarded %q, error %v, problem %v", tt.name, got, err, e.problem)
		}
		if _, err := r.Body.Read(make([]byte, 1)); tt.whole && err != io.EOF {
			t.Errorf("%s: at the end %v", tt.name, err)
		}
	}
}
