package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/handlers"
)

// TestConnectionLimits holds that a server with few descriptors keeps some for
// its models.
func TestConnectionLimits(t *testing.T) {
	for _, tt := range []struct {
		name        string
		descriptors uint64
		options     boundOptions
		want        handlers.ConnectionLimits
		warns       bool
	}{
		{"many", 1 << 20, boundOptions{}, handlers.ConnectionLimits{All: 4096, PerAddress: 2048}, false},
		{"without a limit", 1<<64 - 1, boundOptions{}, handlers.ConnectionLimits{All: 4096, PerAddress: 2048}, false},
		{"1024", 1024, boundOptions{}, handlers.ConnectionLimits{All: 464, PerAddress: 232}, false},
		{"256", 256, boundOptions{}, handlers.ConnectionLimits{All: 80, PerAddress: 40}, false},
		{"hardly any", 64, boundOptions{}, handlers.ConnectionLimits{All: 16, PerAddress: 8}, false},
		{"flags", 1024, boundOptions{connections: 10, perAddress: 3}, handlers.ConnectionLimits{All: 10, PerAddress: 3}, false},
		{"more than there are", 256, boundOptions{connections: 1000}, handlers.ConnectionLimits{All: 80, PerAddress: 40}, true},
	} {
		var out bytes.Buffer
		got := tt.options.limit(tt.descriptors, slog.New(slog.NewTextHandler(&out, nil)))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if warns := strings.Contains(out.String(), "ulimit -n"); warns != tt.warns {
			t.Errorf("%s: the log is %q", tt.name, out.String())
		}
	}
}
