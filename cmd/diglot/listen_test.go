package main

import (
	"strings"
	"testing"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
)

// TestAddressInUse starts two servers at one address.
func TestAddressInUse(t *testing.T) {
	script := write(t, "script.yaml", `models: {m: {replies: [{pieces: [hello]}]}}`)
	address := strings.TrimPrefix(start(t, "--script", script).url, "http://")
	status, stdout, stderr := execute(t.Context(), "serve", "--script", script, "--listen", address)
	want := "diglot: " + address + " is in use, possibly by another diglot server; use another address with --listen\n"
	if status != exit.Failure || stdout != "" || stderr != want {
		t.Errorf("status %d, printed %q and %q; want %q", status, stdout, stderr, want)
	}
}

// TestOpenServer has the warning on a whole server, unless it asks for a key.
func TestOpenServer(t *testing.T) {
	script := write(t, "script.yaml", `models: {m: {replies: [{pieces: [hello]}]}}`)
	for _, tt := range []struct {
		args []string
		warn bool
	}{
		{[]string{"--listen", "0.0.0.0:0", "--insecure-public"}, true}, {[]string{"--listen", "0.0.0.0:0", "--api-key", "k"}, false}, {nil, false},
	} {
		s := start(t, append([]string{"--script", script}, tt.args...)...)
		s.stop()
		<-s.ended
		<-s.logged
		if got := strings.Contains(s.log.String(), "anyone who can reach this address"); got != tt.warn {
			t.Errorf("%q: the log is\n%s", tt.args, s.log)
		}
	}
}

// TestListenAtAZone: an address may have a zone, which here is of no interface.
func TestListenAtAZone(t *testing.T) {
	script := write(t, "script.yaml", `models: {m: {replies: [{pieces: [hello]}]}}`)
	status, _, stderr := execute(t.Context(), "serve", "--script", script, "--listen", "[fe80::1%none0]:0")
	if status != 1 || !strings.Contains(stderr, "fe80::1%none0") {
		t.Errorf("status %d, %s", status, stderr)
	}
}
