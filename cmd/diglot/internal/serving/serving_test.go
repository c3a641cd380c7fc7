package serving

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/handlers"
)

// TestConnectionLimits holds that a server with few descriptors keeps some for
// its models.
func TestConnectionLimits(t *testing.T) {
	for _, tt := range []struct {
		name        string
		descriptors uint64
		options     Bounds
		want        handlers.ConnectionLimits
		warns       bool
	}{
		{"many", 1 << 20, Bounds{}, handlers.ConnectionLimits{All: 4096, PerAddress: 2048}, false},
		{"without a limit", 1<<64 - 1, Bounds{}, handlers.ConnectionLimits{All: 4096, PerAddress: 2048}, false},
		{"1024", 1024, Bounds{}, handlers.ConnectionLimits{All: 464, PerAddress: 232}, false},
		{"256", 256, Bounds{}, handlers.ConnectionLimits{All: 80, PerAddress: 40}, false},
		{"hardly any", 64, Bounds{}, handlers.ConnectionLimits{All: 16, PerAddress: 8}, false},
		{"flags", 1024, Bounds{MaxConnections: 10, PerAddress: 3}, handlers.ConnectionLimits{All: 10, PerAddress: 3}, false},
		{"more than there are", 256, Bounds{MaxConnections: 1000}, handlers.ConnectionLimits{All: 80, PerAddress: 40}, true},
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

// TestOutlast holds how long requests are answered for after a signal.
func TestOutlast(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cause error
		drain time.Duration
		want  time.Duration
	}{
		{"SIGTERM", ErrTerminated, 10 * time.Second, 10 * time.Second},
		{"SIGTERM, without a load balancer", ErrTerminated, 0, 0},
		{"Ctrl-C", nil, 10 * time.Second, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &Readiness{}
				ctx, signal := context.WithCancelCause(t.Context())
				later, end := r.Outlast(ctx, tt.drain, slog.New(slog.DiscardHandler))
				defer end()
				if r.Is() {
					t.Error("it is ready before its models are loaded")
				}
				if r.Loaded.Store(true); !r.Is() {
					t.Error("it is not ready")
				}
				start := time.Now()
				signal(tt.cause)
				synctest.Wait()
				if r.Is() {
					t.Error("it is ready while it ends")
				}
				if <-later.Done(); time.Since(start) != tt.want {
					t.Errorf("it ends after %v, want %v", time.Since(start), tt.want)
				}
			})
		})
	}
}

// TestOpenAddress warns of the addresses that are not for this machine alone.
func TestOpenAddress(t *testing.T) {
	for _, tt := range []struct {
		network, address string
		open             bool
	}{
		{"tcp", "127.0.0.1:0", false}, {"tcp", "0.0.0.0:0", true}, {"unix", t.TempDir() + "/s", false},
	} {
		l, err := net.Listen(tt.network, tt.address)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		WarnOpen([]net.Listener{l}, slog.New(slog.NewTextHandler(&log, nil)))
		if got := strings.Contains(log.String(), "anyone who can reach this address can use the server; --api-key-file FILE"); got != tt.open {
			t.Errorf("%s: the log is %q", tt.address, log.String())
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSystemdHasNoSocket(t *testing.T) {
	getenv := func(string) string { return "1" } // LISTEN_PID is not set in this process
	if _, err := Listen(getenv, "127.0.0.1:0"); err == nil || !strings.Contains(err.Error(), "systemd passed no listening socket") {
		t.Errorf("error %v", err)
	}
}
