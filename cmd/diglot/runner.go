package main

import (
	"context"
	"flag"
	"log/slog"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/llamacpp"
	"github.com/diglot/diglot/engine/runner"
)

// runRunner is the process of one model. serve starts it, by [runnerCommand].
func runRunner(ctx context.Context, args []string, env environment) error {
	var models modelFiles
	var limits limits
	flags := flag.NewFlagSet("runner", flag.ContinueOnError)
	flags.Var(&models, "model", "`NAME=FILE[,PROJECTOR]` to serve")
	limits.register(flags)
	if err := parse(flags, args, env.stdout); err != nil {
		return err
	}
	if len(models) != 1 {
		return wrongUsage("runner: want one --model; this command is for diglot serve to start")
	}
	log := slog.New(slog.NewTextHandler(env.stderr, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	return runner.RunChild(ctx, func(ctx context.Context) (engine.Engine, error) {
		model, err := llamacpp.Open(ctx, llamacpp.Options{
			Path:      models[0].path,
			Projector: models[0].projector,
			Threads:   int(limits.threads),
			Parallel:  int(limits.parallel),
			Context:   int(limits.context),
			Log:       log,
		})
		if err != nil {
			return nil, err
		}
		shareCores(env, 4)
		e, err := chat.New(named{model, models[0].name}, log, time.Now)
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
