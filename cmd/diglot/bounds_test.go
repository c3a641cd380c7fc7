package main

import (
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBoundFlags has command lines that would leave a server open, or closed
// to everyone.
func TestBoundFlags(t *testing.T) {
	good := write(t, "good.yaml", "models: {m: {replies: [{pieces: [hello]}]}}")
	notGGUF := write(t, "not.gguf", "GIF89a and more")
	missing := filepath.Join(t.TempDir(), "missing")
	for _, tt := range []struct {
		name   string
		args   []string
		status int
		want   string // in what is printed
	}{
		{"too little for bodies", []string{"serve", "--script", good, "--max-bodies", "10MiB"}, 2, "--max-bodies is too small for one body of --max-body, which may need 383479235 bytes"},
		{"no stall time", []string{"serve", "--script", good, "--stall-timeout", "0s"}, 2, "want a time such as 30s, from 1s to 1h0m0s"},
		{"drain", []string{"serve", "--script", good, "--drain", "-1s"}, 2, "from 0s to 1h0m0s"},
		{"no connections", []string{"serve", "--script", good, "--max-connections", "0"}, 2, "want a whole number from 1 to"},
		{"no file of keys", []string{"serve", "--script", good, "--api-key-file", missing}, 1, "--api-key-file: stat "},
		{"no keys in a file", []string{"serve", "--script", good, "--api-key-file", notGGUF}, 1, "line 1 is not NAME: KEY"},
		{"a public address", []string{"serve", "--script", good, "--listen", "0.0.0.0:0"}, 2, "and no key is asked for; name a file of keys with --api-key-file, or set DIGLOT_API_KEY"},
	} {
		t.Run(tt.name, func(t *testing.T) { checkCommandLine(t, tt.args, tt.status, tt.want) })
	}
}

// TestStalledCommand has a command at the local socket that does not arrive:
// its connection ends.
func TestStalledCommand(t *testing.T) {
	u := newUser(t)
	u.variables["DIGLOT_SOCKET"] = filepath.Join(u.home, "s")
	u.serve("--script", u.write("script.yaml", twoModels), "--stall-timeout", "1s")
	conn, err := net.Dial("unix", u.variables["DIGLOT_SOCKET"])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second)) // fail rather than hang
	if _, err := io.WriteString(conn, "POST /control/load HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	reply, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(reply), "HTTP/1.1 400 ") {
		t.Errorf("reply %q, error %v", reply, err)
	}
}
