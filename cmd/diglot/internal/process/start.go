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

// Config is what the processes of all models have in common.
func Config(getenv func(string) string, log *slog.Logger) runner.Config {
	return runner.Config{Log: log, Variables: Variables(getenv), Budget: runner.NewBudget()}
}

// Command is the command line that makes program the process of f.
func Command(program string, f library.File, l Limits) []string {
	return append([]string{program, "runner", "--model", argument(f)}, l.args()...)
}

// Starter starts models in processes of program, each of which has what config
// says.
func Starter(program string, config runner.Config) func(context.Context, library.Launch) (library.Instance, error) {
	return func(ctx context.Context, l library.Launch) (library.Instance, error) {
		if !build.HasLlamacpp() {
			return nil, noLlamacpp()
		}
		return Start(ctx, config, l, launchCommand(program, l))
	}
}

// Start starts a model and returns when it is ready.
func Start(ctx context.Context, config runner.Config, l library.Launch, command []string) (library.Instance, error) {
	config.Models = []runner.Model{{Name: l.Name, File: l.Path, Blind: l.Projector == "", Command: command}}
	e, err := runner.New(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := e.Load(ctx, l.Name); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// launchCommand is the command line that makes program the process of l.
func launchCommand(program string, l library.Launch) []string {
	command := Command(program,
		library.File{Name: l.Name, Path: l.Path, Projector: l.Projector},
		Limits{Threads: flagvalue.Number(l.Threads), Parallel: flagvalue.Number(l.Parallel), Context: flagvalue.Number(l.Context)})
	command = append(command, Changes{Template: l.Template, Adapters: l.Adapters}.args()...)
	return append(command, "--memory", strconv.FormatInt(l.Memory, 10))
}

// noLlamacpp is the error of a client that asks a build of scripts alone for a
// model.
func noLlamacpp() *engine.Error {
	err := engine.Errorf(engine.CodeUnsupported, "This build of the server has no llama.cpp in it, so it computes no models.").
		At(engine.Place{Field: engine.FieldModel})
	err.NoRetry = true
	return err
}

// PlanMemory says what a model takes of the memory that is free.
func PlanMemory(l library.Launch, free int64) (memory.Plan, error) {
	return memory.Fit(
		memory.Files{Model: l.Path, Projector: l.Projector, Adapters: l.Adapters},
		memory.Options{Context: l.Context, Parallel: l.Parallel, Threads: cmp.Or(l.Threads, llamacpp.DefaultThreads())},
		free)
}

// runnerVariables are the names of what the process of a model may know of its
// surroundings: how to find its libraries, how Go is to behave, and where on
// Earth it is, for templates that tell the date.
func runnerVariables() []string {
	return []string{"LD_LIBRARY_PATH", "GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GOTRACEBACK", "TZ"}
}

// Variables are the variables of the process of a model. One keeps
// llama.cpp from starting a debugger on it where it ends.
func Variables(getenv func(string) string) []string {
	set := []string{"GGML_NO_BACKTRACE=1"}
	for _, name := range runnerVariables() {
		if value := getenv(name); value != "" {
			set = append(set, name+"="+value)
		}
	}
	return set
}
