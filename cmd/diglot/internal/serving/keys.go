package serving

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"unicode"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/handlers"
)

// Keys are the flags for API keys.
type Keys struct {
	Fixed flagvalue.List
	File  string // with one NAME: KEY a line; empty: none
}

// Asked reports whether keys are required.
func (k Keys) Asked(getenv func(string) string) bool {
	return len(k.Fixed) > 0 || k.File != "" || getenv("DIGLOT_API_KEY") != ""
}

// isBlank reports whether r is not allowed in a key, which is sent in a header.
func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// Open collects the keys of the environment, the flags and a file, which is watched
// until ctx ends. Nil: no keys are required.
func (k Keys) Open(ctx context.Context, command string, getenv func(string) string, log *slog.Logger) (*handlers.Keys, error) {
	if !k.Asked(getenv) {
		return nil, nil
	}
	var fixed []handlers.Key
	if key := getenv("DIGLOT_API_KEY"); key != "" {
		fixed = append(fixed, handlers.Key{Name: "DIGLOT_API_KEY", Key: key})
	}
	for _, key := range k.Fixed {
		fixed = append(fixed, handlers.Key{Name: "--api-key", Key: key})
	}
	if len(k.Fixed) > 0 {
		log.Warn("every user of this machine can see the keys of --api-key in the process list; use --api-key-file FILE or DIGLOT_API_KEY instead")
	}
	for _, key := range fixed {
		if strings.ContainsFunc(key.Key, isBlank) {
			return nil, exit.Usage("%s: the key of %s has a blank in it, so that no client could send it", command, key.Name)
		}
	}
	keys := handlers.NewKeys(fixed...)
	if k.File == "" {
		return keys, nil
	}
	file, err := keys.AddFile(k.File, log)
	if err != nil {
		return nil, fmt.Errorf("--api-key-file: %w", err)
	}
	go file.Watch(ctx)
	return keys, nil
}
