package template

import (
	"strings"
	"testing"

	"github.com/ardanlabs/jinja"
)

func TestFromJSON(t *testing.T) {
	for _, tt := range []struct{ name, raw, want string }{
		{"key order", `{"z": 1, "items": {"b": 2, "a": 3}}`, `{"z": 1, "items": {"b": 2, "a": 3}}`},
		{"integers and floats", `[1, 1.0, 1e2, -0, 9007199254740993]`, `[1, 1.0, 100.0, 0, 9007199254740993]`},
		{"beyond 64 bits", `[18446744073709551616]`, `[1.8446744073709552e+19]`},
		{"constants", `[null, true, false, "", [], {}]`, `[null, true, false, "", [], {}]`},
		{"no HTML escapes", `["<b> & é \u00fc \u2028"]`, "[\"<b> & é ü \u2028\"]"},
		{"a key twice", `{"a": 1, "a": 2}`, `{"a": 2}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, err := fromJSON([]byte(tt.raw), func(s string) string { return s })
			if err != nil {
				t.Fatal(err)
			}
			tpl, err := compile("{{ v | tojson }}", Model{}, testTime)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := tpl.run(t.Context(), map[string]jinja.Value{"v": v}); err != nil || got != tt.want {
				t.Errorf("%s becomes %s, %v; want %s", tt.raw, got, err, tt.want)
			}
		})
	}
}

func TestFromBadJSON(t *testing.T) {
	for _, raw := range []string{``, `{`, `{"a"`, `{"a":}`, `[1,]`, `{} {}`, `nul`, strings.Repeat("[", 5000)} {
		if v, err := fromJSON([]byte(raw), strings.ToUpper); err == nil {
			t.Errorf("%.20q: no error, but %s", raw, v)
		}
	}
}
