package main

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

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

// TestSocketsOfSystemd holds that each command that serves does so on all sockets that it is
// given.
func TestSocketsOfSystemd(t *testing.T) {
	script := write(t, "script.yaml", `models: {m: {replies: [{pieces: [hello]}]}}`)
	upstream := start(t, "--script", script)
	for _, args := range [][]string{
		{"serve", "--script", script, "--socket", "none"},
		{"replay"},
		{"record", "--upstream", upstream.url, "--cassettes", t.TempDir()},
	} {
		var files []*os.File
		var addresses []string
		for range 2 {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			f, err := l.(*net.TCPListener).File()
			if err != nil {
				t.Fatal(err)
			}
			l.Close()
			files, addresses = append(files, f), append(addresses, l.Addr().String())
		}
		// The process that gets the sockets must have the number that they are for.
		c := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `LISTEN_PID=$$ LISTEN_FDS=2 exec "$0" "$@"`, os.Args[0]}, args...)...)
		c.ExtraFiles = files
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			f.Close()
		}
		for _, a := range addresses {
			reply, err := (&http.Client{Timeout: time.Minute}).Get("http://" + a + "/v1/models")
			if err != nil {
				t.Errorf("%s: %v", args[0], err)
				continue
			}
			if reply.Body.Close(); reply.StatusCode != http.StatusOK {
				t.Errorf("%s: status %d at %s", args[0], reply.StatusCode, a)
			}
		}
		_ = c.Process.Kill() // fails only if it has ended
		_ = c.Wait()
	}
}
