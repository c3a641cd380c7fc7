package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/process"
	"github.com/diglot/diglot/engine/chat/template"
	"github.com/diglot/diglot/engine/local/confine"
)

const (
	// templateHeadroom is what the process for a template may allocate, in bytes:
	// about twice the limit of one rendering.
	templateHeadroom = 1 << 30

	// templateTime is its timeout. Most take milliseconds.
	templateTime = time.Minute

	// maxReport bounds its output, in bytes.
	maxReport = 1 << 20
)

// templateReport is the output of the process for a template.
type templateReport struct {
	Error    string // why it cannot be used; empty: usable
	Tools    bool
	Thinking bool
}

// newTemplate makes the command that checks a chat template in a sandbox, because
// models are not trusted. create and show start it.
func newTemplate(env environment) *cobra.Command {
	return &cobra.Command{
		Use:    "template",
		Short:  "Check a chat template (started by create and show)",
		Hidden: true,
		Args:   noArguments,
		RunE: func(*cobra.Command, []string) error {
			confine.Enter(confine.Needs{State: env.getenv(confine.Marker)})
			if used, err := confine.MemoryUsed(); err == nil {
				_ = confine.LimitMemory(used + templateHeadroom) // without it, the limits of a rendering apply
			}
			debug.SetMemoryLimit(templateHeadroom * 3 / 4)
			source, err := io.ReadAll(env.stdin)
			if err != nil {
				return err
			}
			return printJSON(env.stdout, reportTemplate(string(source)))
		},
	}
}

func reportTemplate(source string) templateReport {
	t, err := template.New(source, template.Model{}, time.Now)
	if err != nil {
		return templateReport{Error: err.Error()}
	}
	caps := t.Capabilities()
	return templateReport{Tools: caps.Tools, Thinking: caps.Syntax.ReasoningStart != ""}
}

// tryTemplate checks a chat template in a sandboxed process with little memory. Its
// error describes what is wrong with the template.
func tryTemplate(ctx context.Context, env environment, source string) (templateReport, error) {
	program, err := os.Executable()
	if err != nil {
		return templateReport{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, templateTime, errors.New("the chat template takes too long"))
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "template")
	cmd.Env = append([]string{}, process.Variables(env.getenv)...)
	cmd.Stdin = strings.NewReader(source)
	return readReport(ctx, cmd)
}

// readReport runs the process for a template.
func readReport(ctx context.Context, cmd *exec.Cmd) (templateReport, error) {
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &capped{to: &out}, &capped{to: &log}
	err := cmd.Run()
	var report templateReport
	switch {
	case ctx.Err() != nil:
		return report, context.Cause(ctx)
	case err != nil && outOfMemory(log.String()):
		return report, errors.New("the chat template takes too much memory")
	case err != nil:
		return report, fmt.Errorf("the process that tried the chat template ended: %w", err)
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		return report, fmt.Errorf("the process that tried the chat template: %w", err)
	}
	if report.Error != "" {
		return report, errors.New(report.Error)
	}
	return report, nil
}

// outOfMemory reports whether a log has an out-of-memory error of Go, C++ or the
// system.
func outOfMemory(log string) bool {
	for _, words := range []string{"out of memory", "cannot allocate memory", "bad_alloc"} {
		if strings.Contains(log, words) {
			return true
		}
	}
	return false
}

// capped accepts all output and keeps its start.
type capped struct{ to *bytes.Buffer }

func (c *capped) Write(b []byte) (int, error) {
	c.to.Write(b[:min(len(b), maxReport-c.to.Len())])
	return len(b), nil
}
