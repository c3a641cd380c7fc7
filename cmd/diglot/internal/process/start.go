package process

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strconv"

	"github.com/diglot/diglot/cmd/diglot/internal/build"
	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/llamacpp"
	"github.com/diglot/diglot/engine/local/memory"
	"github.com/diglot/diglot/engine/local/runner"
	"github.com/diglot/diglot/engine/models/library"
)

// Config is the configuration that all runners share.
func Config(getenv func(string) string, log *slog.Logger) runner.Config {
	return runner.Config{Log: log, Variables: Variables(getenv), Budget: runner.NewBudget()}
}

// Command is the command line of the runner for f.
func Command(program string, f library.File, l Limits) []string {
	return append([]string{program, "runner", "--model", argument(f)}, l.args()...)
}

// Starter returns a function that starts models in runners, which are processes
// of program, with the limits that do not come from a launch. imagegen finds the
// library of the image engine.
func Starter(program string, limits Limits, config runner.Config, imagegen func() (string, error)) func(context.Context, library.Launch) (library.Instance, error) {
	return func(ctx context.Context, l library.Launch) (library.Instance, error) {
		command := launchCommand(program, limits, l)
		switch {
		case len(l.Parts) > 0:
			engine, err := imagegen()
			if err != nil {
				return nil, err
			}
			command = append(command, "--imagegen", engine)
		case !build.HasLlamacpp():
			return nil, noLlamacpp()
		}
		return Start(ctx, config, l, command)
	}
}

// Start starts a runner and returns when its model is loaded.
func Start(ctx context.Context, config runner.Config, l library.Launch, command []string) (library.Instance, error) {
	config.Models = []runner.Model{{Name: l.Name, File: l.Path, TextOnly: l.Projector == "", Command: command}}
	e, err := runner.New(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := e.Load(ctx, l.Name); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return instance{e}, nil
}

// instance is a model in a process, whose memory is known.
type instance struct{ *runner.Engine }

var _ library.Measured = instance{}

// MemoryUsed implements [library.Measured].
func (i instance) MemoryUsed() (bytes int64, known bool) {
	known = true
	for _, id := range i.Processes() {
		used, ok := memory.Resident(id)
		bytes, known = bytes+used, known && ok
	}
	return bytes, known
}

// launchCommand is the command line of the runner for l.
func launchCommand(program string, limits Limits, l library.Launch) []string {
	if !limits.Draft.None {
		limits.Draft.Model = limits.Draft.draftOf(l)
	}
	limits.Threads, limits.Parallel, limits.Context = flagvalue.Number(l.Threads), flagvalue.Number(l.Parallel), flagvalue.Number(l.Context)
	command := Command(program,
		library.File{Name: l.Name, Path: l.Path, Projector: l.Projector, Parts: l.Parts}, limits)
	command = append(command, Changes{Template: l.Template, Adapters: l.Adapters, Strengths: l.Strengths}.args()...)
	return append(command, "--memory", strconv.FormatInt(l.Memory, 10))
}

// noLlamacpp is the error for a request to a GGUF model in a build without
// llama.cpp.
func noLlamacpp() *engine.Error {
	err := engine.Errorf(engine.CodeUnsupported, "This server was built without llama.cpp and cannot run GGUF models.").
		At(engine.Place{Field: engine.FieldModel})
	err.NoRetry = true
	return err
}

// Planner returns a function that plans the memory of a model within what is free.
func Planner(limits Limits) func(l library.Launch, free int64) (memory.Plan, error) {
	return func(l library.Launch, free int64) (memory.Plan, error) {
		if len(l.Parts) > 0 {
			return planImages(l.Parts, free)
		}
		return memory.Fit(
			memory.Files{Model: l.Path, Projector: l.Projector, Adapters: l.Adapters, Draft: limits.Draft.draftOf(l)},
			memory.Options{
				Context: l.Context, Parallel: l.Parallel, Threads: cmp.Or(l.Threads, llamacpp.DefaultThreads()),
				LaidOut: llamacpp.Kernels(limits.Kernels).LaidOut(),
			},
			free)
	}
}

// runnerVariables are the environment variables that a runner inherits: for
// finding libraries, for the Go runtime, and the time zone for templates that
// print the date.
func runnerVariables() []string {
	return []string{"LD_LIBRARY_PATH", "GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GOTRACEBACK", "TZ"}
}

// Variables is the environment of a runner. GGML_NO_BACKTRACE keeps llama.cpp
// from starting a debugger when it crashes.
func Variables(getenv func(string) string) []string {
	set := []string{"GGML_NO_BACKTRACE=1"}
	for _, name := range runnerVariables() {
		if value := getenv(name); value != "" {
			set = append(set, name+"="+value)
		}
	}
	return set
}
