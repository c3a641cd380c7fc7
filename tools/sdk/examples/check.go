package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/diglot/diglot/internal/cassette"
)

// patience is how long one example may take.
const patience = 2 * time.Minute

// errUnavailable says that a program does not exist for this machine.
var errUnavailable = errors.New("the program that it needs is not installed")

// check runs an example and says what is wrong.
func (p *programs) check(ctx context.Context, e example, through *proxy, recorded map[string]bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	through.requests()
	e.code = strings.ReplaceAll(e.code, address, through.address)
	home, err := os.MkdirTemp(p.folder, "home-")
	if err != nil {
		return err
	}
	for name, text := range e.files {
		file := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, address, through.address)), 0o644); err != nil {
			return err
		}
	}
	if _, err := os.Stat(agents); e.needs == "agents" && err != nil {
		return errUnavailable
	}
	cmd, err := p.command(ctx, e, home, through.address)
	if err != nil {
		return err
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w\n%s%s", err, out, complaints.String())
	}
	if err := e.judge(string(out)); err != nil {
		return err
	}
	return e.sent(through.requests(), recorded)
}

// judge compares what an example printed with what the page says.
func (e example) judge(out string) error {
	if e.reply != "" {
		return sameReply(out, e.reply)
	}
	if e.needs == "agents" { // what an agent is told to do is up to the model
		return nil
	}
	got, want := strings.TrimRight(out, "\n"), strings.TrimRight(e.prints, "\n")
	if got != want {
		return fmt.Errorf("it printed %q, and the page says %q", got, want)
	}
	return nil
}

func (e example) sent(requests []cassette.Request, recorded map[string]bool) error {
	if len(requests) == 0 {
		return errors.New("it sent no request")
	}
	for _, r := range requests {
		if e.recorded && !recorded[cassette.Key(r)] {
			return fmt.Errorf("no recording has its request %s %s\n%s", r.Method, r.URL, r.Body)
		}
	}
	return nil
}
