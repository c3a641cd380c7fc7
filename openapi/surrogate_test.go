package openapi

import (
	"encoding/json"
	"testing"
)

func TestMendSurrogates(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`"plain"`, `"plain"`},
		{``, ``},
		{`"\ud83d"`, `"\ufffd"`},
		{`"\uDE00"`, `"\ufffd"`},
		{`"\ud83d\ude00"`, `"\ud83d\ude00"`},
		{`"\ude00\ud83d"`, `"\ufffd\ufffd"`},
		{`"\ud83d\ud83d\ude00"`, `"\ufffd\ud83d\ude00"`},
		{`"\ud83dx\ude00"`, `"\ufffdx\ufffd"`},
		{`"\\ud83d"`, `"\\ud83d"`},
		{`"\\\ud83d"`, `"\\\ufffd"`},
		{`"\ud83d\n"`, `"\ufffd\n"`},
		{`"\u00e9\ud83d"`, `"\u00e9\ufffd"`},
		{`"\ud8"`, `"\ud8"`},
		{`"\u+d8d"`, `"\u+d8d"`},
		{`\`, `\`},
		{`\ud83d`, `\ufffd`},
		{`{"\ud83d":1}`, `{"\ufffd":1}`},
	} {
		text := []byte(tt.text)
		if replaceLoneSurrogates(text); string(text) != tt.want {
			t.Errorf("%s becomes %s, want %s", tt.text, text, tt.want)
		}
	}
}

// FuzzReplaceLoneSurrogates checks that decoders, which read a lone surrogate as U+FFFD,
// see the same string.
func FuzzReplaceLoneSurrogates(f *testing.F) {
	f.Add(`"\ud83d\ude00"`)
	f.Add(`"\\\ud83d"`)
	f.Add(`"a\ud83d\u0041\ude00"`)
	f.Fuzz(func(t *testing.T, text string) {
		var before, after string
		if json.Unmarshal([]byte(text), &before) != nil {
			return
		}
		mended := []byte(text)
		replaceLoneSurrogates(mended)
		if err := json.Unmarshal(mended, &after); err != nil || before != after {
			t.Errorf("%q meant %q and means %q: %v", text, before, after, err)
		}
	})
}
