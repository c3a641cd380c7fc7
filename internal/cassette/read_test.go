package cassette

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestLimitsOfReading(t *testing.T) {
	text := []byte("version: 2\ninteractions: []\n")
	files := fstest.MapFS{"a.yaml": {Data: text}, "b.yaml": {Data: text}}
	size := int64(len(text))
	for _, tt := range []struct {
		name  string
		r     reader
		want  string // of the error
		count int
	}{
		{"just enough", reader{one: size, left: 2 * size, count: 2}, "", 2},
		{"one is too large", reader{one: size - 1, left: 2 * size, count: 2}, "a.yaml: the cassette is larger than ", 0},
		{"all are too large", reader{one: size, left: 2*size - 1, count: 2}, "b.yaml: the cassettes together are larger than ", 1},
		{"there are too many", reader{one: size, left: 2 * size, count: 1}, "b.yaml: more than ", 1},
	} {
		tt.r.files = files
		err := tt.r.walk([]string{"."})
		if got := message(err); (got == "") != (tt.want == "") || !strings.HasPrefix(got, tt.want) || len(tt.r.all) != tt.count {
			t.Errorf("%s: %d read, error %q, want %d and %q", tt.name, len(tt.r.all), got, tt.count, tt.want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
