package terminal

import "testing"

func TestColumns(t *testing.T) {
	for text, want := range map[string]int{
		"a": 1, "é": 1, "e\u0301": 1, "中": 2, "😀": 2, "👩‍👩‍👧": 2, "🇳🇴": 2, "👍🏽": 2,
		"❤": 1, "❤\ufe0f": 2, "☀\ufe0f": 2, "❤\ufe0e": 1, "1\ufe0f\u20e3": 2, "🏳\ufe0f\u200d🌈": 2, "✅": 2,
	} {
		clusters := split(text)
		if len(clusters) != 1 || clusters[0].columns != want {
			t.Errorf("%q is %+v, want one cluster of %d columns", text, clusters, want)
		}
	}
}
