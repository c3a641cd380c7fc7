package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/confine"
	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/engine/local/llamacpp"
	"github.com/diglot/diglot/engine/local/runner"
)

// newRunner is the command of the process of one model. serve starts it, by
// [runnerCommand].
func newRunner(env environment) *cobra.Command {
	var models modelFiles
	var limits limits
	var changes changes
	var room memorySize
	c := &cobra.Command{
		Use:    "runner",
		Short:  "Compute one model; diglot serve starts it",
		Hidden: true,
		Args:   noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(models) != 1 {
				return wrongUsage("runner: want one --model; this command is for diglot serve to start")
			}
			return runRunner(c.Context(), models[0], limits, changes, room, env)
		},
	}
	c.Flags().Var(&models, "model", "`NAME=FILE[,PROJECTOR]` to serve")
	limits.register(c.Flags())
	changes.register(c.Flags())
	c.Flags().Var(&room, "memory", "`memory` that the model may take (default what the machine has)")
	return c
}

// changes are the flags that say in what a model differs from its file.
type changes struct {
	template string // a file, Jinja or a Go template; empty: the model's own
	adapters list
}

func (c *changes) register(flags *pflag.FlagSet) {
	flags.StringVar(&c.template, "template", "", "`file` with the chat template to use in place of the model's own")
	flags.Var(&c.adapters, "adapter", "LoRA `file` that changes the model; may be repeated")
}

// args are the flags that make the same changes.
func (c changes) args() []string {
	var args []string
	if c.template != "" {
		args = append(args, "--template", c.template)
	}
	for _, path := range c.adapters {
		args = append(args, "--adapter", path)
	}
	return args
}

// maxTemplate bounds the file of a template, in bytes.
const maxTemplate = 1 << 20

// source reads the template; empty: the model's own.
func (c changes) source() (string, error) {
	if c.template == "" {
		return "", nil
	}
	file, err := os.Open(c.template)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxTemplate+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > maxTemplate:
		return "", fmt.Errorf("the template %s has more than %d bytes", c.template, maxTemplate)
	case strings.TrimSpace(string(text)) == "":
		return "", fmt.Errorf("the template %s is empty", c.template)
	}
	return string(text), nil
}

// runRunner serves the model to the parent process until ctx ends.
func runRunner(ctx context.Context, m modelFile, limits limits, changes changes, room memorySize, env environment) error {
	template, err := changes.source()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(env.stderr, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	files := append(gguf.PartsOf(m.path), m.projector, changes.template)
	files = append(files, changes.adapters...)
	limit := &runnerLimit{log: log}
	return runner.RunChild(ctx, runner.Child{Files: files, State: env.getenv(confine.Marker), Open: func(ctx context.Context, held confine.Held) (engine.Engine, error) {
		log.Info("process confined", "holds", held, "without", held.Without)
		model, err := llamacpp.Open(ctx, llamacpp.Options{
			Path:      m.path,
			Projector: m.projector,
			Adapters:  changes.adapters,
			Threads:   int(limits.threads),
			Parallel:  int(limits.parallel),
			Context:   int(limits.context),
			Available: room.available,
			Planned:   limit.planned,
			Log:       log,
		})
		if err != nil {
			return nil, err
		}
		limit.loaded()
		shareCores(env, 4)
		e, err := chat.New(named{model, m.name, template}, log, time.Now)
		if err != nil && template != "" {
			err = fmt.Errorf("template %s: %w", changes.template, err)
		}
		if err != nil {
			model.Close()
			return nil, err
		}
		return progressing{e, model}, nil
	}})
}

// progressing shows the steps of a model: a long prompt is not a hang.
type progressing struct {
	engine.Engine
	model *decode.Model
}

var _ runner.Progress = progressing{}

func (p progressing) Steps() uint64 { return uint64(p.model.Stats().Steps) }

// runnerCommand is the command line that makes program the process of m.
func runnerCommand(program string, m modelFile, l limits) []string {
	return append([]string{program, "runner", "--model", m.String()}, l.args()...)
}

// runnerVariables are the names of what the process of a model may know of its
// surroundings: how to find its libraries, how Go is to behave, and where on
// Earth it is, for templates that tell the date.
func runnerVariables() []string {
	return []string{"LD_LIBRARY_PATH", "GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GOTRACEBACK", "TZ"}
}

// variablesOfRunner are the variables of the process of a model. One keeps
// llama.cpp from starting a debugger on it where it ends.
func variablesOfRunner(env environment) []string {
	set := []string{"GGML_NO_BACKTRACE=1"}
	for _, name := range runnerVariables() {
		if value := env.getenv(name); value != "" {
			set = append(set, name+"="+value)
		}
	}
	return set
}

// withoutTime leaves out the time: the parent, which logs each line, adds it.
func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// named is a model under the name that the user gave it, and with the template.
type named struct {
	chat.Model
	name     string
	template string // empty: its own
}

func (n named) Info() chat.Info {
	info := n.Model.Info()
	info.Name = n.name
	info.Template = cmp.Or(n.template, info.Template)
	return info
}
