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
	// templateHeadroom is what a process that tries a template may take, in
	// bytes, beside what it begins with: about twice what one rendering may.
	templateHeadroom = 1 << 30

	// templateTime is how long it may take. Most take some milliseconds.
	templateTime = time.Minute

	// maxReport bounds what it may say.
	maxReport = 1 << 20
)

// templateReport is what a process says of the template that it tried.
type templateReport struct {
	Error    string // why it cannot be used; empty: it can
	Tools    bool
	Thinking bool
}

// newTemplate is the command of a process that tries a chat template, which
// comes with a model that nobody knows. create and show start it.
func newTemplate(env environment) *cobra.Command {
	return &cobra.Command{
		Use:    "template",
		Short:  "Check a chat template (started by create and show)",
		Hidden: true,
		Args:   noArguments,
		RunE: func(*cobra.Command, []string) error {
			confine.Enter(confine.Needs{State: env.getenv(confine.Marker)})
			if used, err := confine.MemoryUsed(); err == nil {
				_ = confine.LimitMemory(used + templateHeadroom) // where there is no such limit, a rendering's own holds
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

// tryTemplate tries a chat template in a process of its own, which has little
// memory and can reach nothing. Its error says what is wrong with the template.
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

// readReport runs a process that tries a template.
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

// outOfMemory reports whether a process wrote that it had no memory left, in the
// words of Go, of C++ or of the system.
func outOfMemory(log string) bool {
	for _, words := range []string{"out of memory", "cannot allocate memory", "bad_alloc"} {
		if strings.Contains(log, words) {
			return true
		}
	}
	return false
}

// capped takes all that is written, and keeps the beginning.
type capped struct{ to *bytes.Buffer }

func (c *capped) Write(b []byte) (int, error) {
	c.to.Write(b[:min(len(b), maxReport-c.to.Len())])
	return len(b), nil
}
