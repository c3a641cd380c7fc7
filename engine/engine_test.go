package engine_test

import (
	"testing"

	"github.com/diglot/diglot/engine"
)

func TestOwner(t *testing.T) {
	for name, want := range map[string]string{
		"m":                   "library",
		"m:7b":                "library",
		"library/m":           "library",
		"org/m:latest":        "org",
		"hf.co/org/m-GGUF:Q4": "org",
		"/m":                  "library",
		"":                    "library",
		"org//m":              "org",
		"host:8080/org/m:tag": "org",
	} {
		if got := engine.Owner(name); got != want {
			t.Errorf("Owner(%q) = %q, want %q", name, got, want)
		}
	}
}
