package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"unicode"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/handlers"
)

// asksForKey reports whether clients must send a key.
func (o *serveOptions) asksForKey(env environment) bool {
	return len(o.keys) > 0 || o.keyFile != "" || env.getenv("DIGLOT_API_KEY") != ""
}

// isBlank reports whether a header could not carry r within a value.
func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// openKeys collects the keys of the environment, of flags and of a file, which
// is watched until ctx ends. Nil: there are none, and none is asked for.
func openKeys(ctx context.Context, o *serveOptions, env environment, log *slog.Logger) (*handlers.Keys, error) {
	if !o.asksForKey(env) {
		return nil, nil
	}
	var fixed []handlers.Key
	if key := env.getenv("DIGLOT_API_KEY"); key != "" {
		fixed = append(fixed, handlers.Key{Name: "DIGLOT_API_KEY", Key: key})
	}
	for _, key := range o.keys {
		fixed = append(fixed, handlers.Key{Name: "--api-key", Key: key})
	}
	if len(o.keys) > 0 {
		log.Warn("every user of this machine can see the keys of --api-key in the list of processes; --api-key-file FILE and DIGLOT_API_KEY keep them secret")
	}
	for _, key := range fixed {
		if strings.ContainsFunc(key.Key, isBlank) {
			return nil, exit.Usage("serve: the key of %s has a blank in it, so that no client could send it", key.Name)
		}
	}
	keys := handlers.NewKeys(fixed...)
	if o.keyFile == "" {
		return keys, nil
	}
	file, err := keys.AddFile(o.keyFile, log)
	if err != nil {
		return nil, fmt.Errorf("--api-key-file: %w", err)
	}
	go file.Watch(ctx)
	return keys, nil
}
