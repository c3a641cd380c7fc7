package credentials

import (
	"fmt"
	"log/slog"
	"strings"
)

// Entry is an allowed host. Its key does not show in any format.
type Entry struct {
	Variable string // environment variable with the key; empty: none
	key      string
}

// HasKey reports whether requests to the host have a key.
func (e Entry) HasKey() bool { return e.key != "" || e.Variable != "" }

// String describes the source of the key.
func (e Entry) String() string {
	switch {
	case e.Variable != "":
		return "key from " + e.Variable
	case e.key != "":
		return "key"
	}
	return "no key"
}

// Format implements [fmt.Formatter], so that no verb prints the key.
func (e Entry) Format(f fmt.State, _ rune) { fmt.Fprint(f, e.String()) }

// LogValue implements [slog.LogValuer].
func (e Entry) LogValue() slog.Value { return slog.StringValue(e.String()) }

// secret returns the key, checked for use in a header.
func (e Entry) secret(host string, env func(string) (string, bool)) (string, error) {
	if e.Variable == "" {
		return e.key, nil
	}
	key, _ := env(e.Variable)
	key = strings.TrimSpace(key)
	if key == "" {
		return "", fmt.Errorf("the environment variable %s, which holds the key for %s, is not set", e.Variable, Short(host))
	}
	if err := checkKey(key); err != nil {
		return "", fmt.Errorf("the environment variable %s: %w", e.Variable, err)
	}
	return key, nil
}

const maxKey = 16 << 10 // bytes; servers refuse longer headers

func checkKey(key string) error {
	switch {
	case key == "":
		return fmt.Errorf("the key is empty")
	case len(key) > maxKey:
		return fmt.Errorf("the key has more than %d bytes", maxKey)
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return fmt.Errorf("the key has an invalid character, such as a space or a newline")
	}
	return nil
}

func checkVariable(name string) error {
	for i, r := range name {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return fmt.Errorf("%q is not a valid name of an environment variable", name)
		}
	}
	if name == "" {
		return fmt.Errorf("the name of the environment variable is empty")
	}
	return nil
}
