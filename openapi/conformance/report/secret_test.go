package report

import "testing"

func TestHide(t *testing.T) {
	const secret = `sk-ab/very"secret/99`
	s := Summary{Secrets: []string{"", "sk-ab", secret}}
	for _, tt := range []struct{ name, text, want string }{
		{"plain", "key " + secret + " is wrong", "key [secret] is wrong"},
		{"the shorter one", "sk-ab/very", "[secret]/very"},
		{"a control inside", "sk-\x01ab/very\x1b\"secret/99.", "[secret]."},
		{"nothing to see inside", "sk-ab\u200b/very\"secret\u00ad/99.", "[secret]."},
		{"lines", "sk-ab\n/very\"secret/99.", "[secret]."},
		{"escaped as in JSON", `sk-ab\/very\"secret\/99.`, "[secret]."},
		{"by number", `s\u006b-ab\u002Fvery\u0022secret\u002f99.`, "[secret]."},
		{"an escaped control inside", `sk-ab/\u0001very\"sec\x02ret\n/99.`, "[secret]."},
		{"another", `sk-cd\u00zz \`, `sk-cd\u00zz \`},
	} {
		if got := s.clean(tt.text); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestHeadEndsBeforeASecret(t *testing.T) {
	s := Summary{Secrets: []string{"sk-verysecret/99"}}
	for _, text := range []string{"key sk-verysecret/", `key sk-very\u0073ecret\/9`, `key sk-verysecret\u00`, "key sk-very\x01secret"} {
		if got := string(s.head([]byte(text), len(text), true)); got != "key " {
			t.Errorf("%q: %q is left", text, got)
		}
	}
}
