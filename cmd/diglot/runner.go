package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/llamacpp"
	"github.com/diglot/diglot/engine/runner"
)

// newRunner is the command of the process of one model. serve starts it, by
// [runnerCommand].
func newRunner(env environment) *cobra.Command {
	var models modelFiles
	var limits limits
	c := &cobra.Command{
		Use:    "runner",
		Short:  "Compute one model; diglot serve starts it",
		Hidden: true,
		Args:   noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(models) != 1 {
				return wrongUsage("runner: want one --model; this command is for diglot serve to start")
			}
			return runRunner(c.Context(), models[0], limits, env)
		},
	}
	c.Flags().Var(&models, "model", "`NAME=FILE[,PROJECTOR]` to serve")
	limits.register(c.Flags())
	return c
}

// runRunner serves the model to the parent process until ctx ends.
func runRunner(ctx context.Context, m modelFile, limits limits, env environment) error {
	log := slog.New(slog.NewTextHandler(env.stderr, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	return runner.RunChild(ctx, func(ctx context.Context) (engine.Engine, error) {
		model, err := llamacpp.Open(ctx, llamacpp.Options{
			Path:      m.path,
			Projector: m.projector,
			Threads:   int(limits.threads),
			Parallel:  int(limits.parallel),
			Context:   int(limits.context),
			Log:       log,
		})
		if err != nil {
			return nil, err
		}
		shareCores(env, 4)
		e, err := chat.New(named{model, m.name}, log, time.Now)
		if err != nil {
			return nil, err
		}
		return progressing{e, model}, nil
	})
}

// progressing shows the steps of a model: a long prompt is not a hang.
type progressing struct {
	engine.Engine
	model *llamacpp.Model
}

var _ runner.Progress = progressing{}

func (p progressing) Steps() uint64 { return uint64(p.model.Stats().Steps) }

// runnerCommand is the command line that makes program the process of m.
func runnerCommand(program string, m modelFile, l limits) []string {
	return append([]string{program, "runner", "--model", m.String()}, l.args()...)
}

// withoutTime leaves out the time: the parent, which logs each line, adds it.
func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// named is a model under the name that the user gave it.
type named struct {
	chat.Model
	name string
}

func (n named) Info() chat.Info {
	info := n.Model.Info()
	info.Name = n.name
	return info
}
