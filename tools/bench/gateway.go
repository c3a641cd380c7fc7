package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/diglot/diglot/tools/bench/report"
)

// gatewayName is diglot in front of llama-server.
const gatewayName = "gateway"

// describeCommand is a command line without what differs from machine to machine.
func describeCommand(name string, args []string, address string, m model) string {
	host, port, _ := strings.Cut(address, ":")
	line := name
	for i, a := range args {
		switch {
		case a == address || i > 0 && args[i-1] == "--host" && a == host || i > 0 && args[i-1] == "--port" && a == port:
			a = "..."
		case a == m.file:
			a = "FILE"
		case a == m.name:
			a = "NAME"
		case strings.HasSuffix(a, "="+m.file):
			a = "NAME=FILE"
		}
		line += " " + a
	}
	return line
}

// behind starts diglot over a model that another server has, as a user would: the host is
// allowed, and a Modelfile names it.
func (f *found) behind(ctx context.Context, upstream *target, folder string) (*target, error) {
	home, err := os.MkdirTemp(folder, "gateway-")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(home, "Modelfile")
	text := fmt.Sprintf("FROM %s/v1\nPARAMETER model %s\n", upstream.client.URL, upstream.model)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"login", upstream.client.URL, "--no-key"}, {"create", upstream.model, "-f", file}} {
		cmd := exec.CommandContext(ctx, f.program, args...)
		cmd.Env = append(os.Environ(), "DIGLOT_HOME="+home)
		if said, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("diglot %s: %w\n%s", args[0], err, said)
		}
	}
	stored := kind{Server: f.Server, plain: named, command: func(_ model, _ report.Settings, address, _ string) (args, env []string) {
		return []string{"serve", "--listen", address, "--socket", "none", "--drain", "0s"}, []string{"DIGLOT_HOME=" + home}
	}}
	own := &found{kind: stored, program: f.program, home: home}
	t, err := own.run(ctx, model{name: upstream.model}, report.Settings{})
	if err != nil {
		return nil, err
	}
	t.name = gatewayName
	return t, nil
}
