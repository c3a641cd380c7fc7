package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	units "github.com/docker/go-units"
	"github.com/spf13/pflag"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/llamacpp"
	"github.com/diglot/diglot/engine/local/memory"
	"github.com/diglot/diglot/engine/local/runner"
	"github.com/diglot/diglot/engine/models/credentials"
	"github.com/diglot/diglot/engine/models/library"
	"github.com/diglot/diglot/engine/models/modelfile"
	"github.com/diglot/diglot/engine/models/store"
	"github.com/diglot/diglot/engine/upstream"
	"github.com/diglot/diglot/internal/budget"
)

// libraryOptions are the flags that say how long models stay in memory, and in
// how much of it.
type libraryOptions struct {
	keepAlive keepAlive
	memory    memorySize
}

func (o *libraryOptions) register(flags *pflag.FlagSet) {
	flags.Var(&o.keepAlive, "keep-alive", "how long an idle model stays loaded: a `time` such as 30m, 0 for not at all, or forever (default 5m)")
	flags.Var(&o.memory, "max-memory", "most `memory`, such as 12GB, that all models may take (default what the machine has)")
}

// mostKeepAlive is the longest time that can be meant, a year: who gives more
// has mistaken the unit, or means forever.
const mostKeepAlive = 365 * 24 * time.Hour

// keepAlive is a flag for a duration as [library.Config] has it; 0 says that
// it was not given.
type keepAlive time.Duration

func (k *keepAlive) String() string {
	switch {
	case *k == 0:
		return ""
	case *k < 0:
		return "forever"
	}
	return time.Duration(*k).String()
}

func (k *keepAlive) Type() string { return "time" }

func (k *keepAlive) Set(value string) error {
	if value == "forever" {
		*k = -1
		return nil
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 || d > mostKeepAlive {
		return fmt.Errorf("want a time such as 30m or 1h30m, from 0 to %dh, or forever", mostKeepAlive/time.Hour)
	}
	*k = keepAlive(max(d, 1)) // 0 is as good as the shortest time
	return nil
}

// What can be meant for models, in bytes: who gives less has left out the
// unit, and no machine has more.
const (
	leastMemory = 1 << 20
	mostMemory  = 1 << 50
)

// memorySize is a flag for some bytes; 0 says that it was not given.
type memorySize int64

func (m *memorySize) String() string {
	if *m == 0 {
		return ""
	}
	return units.HumanSize(float64(*m))
}

func (m *memorySize) Type() string { return "memory" }

func (m *memorySize) Set(value string) error {
	read := units.FromHumanSize
	if strings.ContainsAny(value, "iI") { // GiB and the like
		read = units.RAMInBytes
	}
	n, err := read(value)
	if err != nil || n < leastMemory || n > mostMemory {
		return errors.New("want a size such as 12GB or 900MiB, from 1MiB to 1PiB")
	}
	*m = memorySize(n)
	return nil
}

// available is what the machine has, and no more than m, as
// [llamacpp.Options] wants it.
func (m memorySize) available() (int64, error) {
	free, err := memory.Available()
	switch {
	case m == 0:
		return free, err
	case err != nil:
		return int64(m), nil
	}
	return min(free, int64(m)), nil
}

// libraryConfig is what a library needs to serve the store, which may be nil, and
// the files that flags name.
func libraryConfig(env environment, models *store.Store, files modelFiles, l limits, o libraryOptions, log *slog.Logger) (library.Config, error) {
	if models != nil && strings.Contains(models.Dir(), ",") { // see modelFiles.Set
		return library.Config{}, fmt.Errorf("the model store %s has a comma in its path, which cannot be served; name another place with DIGLOT_MODELS", models.Dir())
	}
	program, err := os.Executable()
	if err != nil {
		return library.Config{}, err
	}
	return library.Config{
		Store:     models,
		Files:     files.served(),
		Log:       log,
		Start:     starter(program, processes(env, log)),
		Upstream:  connector(env, log),
		Plan:      planMemory,
		Budget:    cmp.Or(int64(o.memory), memory.Budget()),
		Available: memory.Available,
		Context:   int(l.context),
		Threads:   int(l.threads),
		Parallel:  int(l.parallel),
		KeepAlive: time.Duration(o.keepAlive),
	}, nil
}

func (m modelFiles) served() []library.File {
	var files []library.File
	for _, f := range m {
		files = append(files, library.File{Name: f.name, Path: f.path, Projector: f.projector})
	}
	return files
}

// starter starts models in processes of program, each of which has what config
// says.
func starter(program string, config runner.Config) func(context.Context, library.Launch) (library.Instance, error) {
	return func(ctx context.Context, l library.Launch) (library.Instance, error) {
		if !hasLlamacpp() {
			return nil, noLlamacpp()
		}
		return startProcess(ctx, config, l, launchCommand(program, l))
	}
}

// startProcess starts a model and returns when it is ready.
func startProcess(ctx context.Context, config runner.Config, l library.Launch, command []string) (library.Instance, error) {
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
	command := runnerCommand(program,
		modelFile{l.Name, l.Path, l.Projector},
		limits{threads: size(l.Threads), parallel: size(l.Parallel), context: size(l.Context)})
	command = append(command, changes{template: l.Template, adapters: l.Adapters}.args()...)
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

// planMemory says what a model takes of the memory that is free.
func planMemory(l library.Launch, free int64) (memory.Plan, error) {
	return memory.Fit(
		memory.Files{Model: l.Path, Projector: l.Projector, Adapters: l.Adapters},
		memory.Options{Context: l.Context, Parallel: l.Parallel, Threads: cmp.Or(l.Threads, llamacpp.DefaultThreads())},
		free)
}

// maxReplies is how many bytes of memory the replies of other servers may take
// together.
const maxReplies = 1 << 30

// connector makes engines of models that other servers have. Whether one may
// be asked, and with what key, is in the user's credentials, which are looked
// at for every request: they may change while the server runs.
func connector(env environment, log *slog.Logger) func(context.Context, modelfile.Remote) (engine.Engine, error) {
	via := "diglot-" + rand.Text()
	replies := budget.New(maxReplies)
	return func(_ context.Context, r modelfile.Remote) (engine.Engine, error) {
		path, err := findPlaces(env).credentialsPath()
		if err != nil {
			return nil, err
		}
		lookup := func(name string) (string, bool) {
			value := env.getenv(name)
			return value, value != ""
		}
		e, err := upstream.New(upstream.Config{
			BaseURL:        r.URL,
			Model:          r.Model,
			Log:            log,
			Via:            via,
			Memory:         replies,
			AffinityHeader: r.AffinityHeader,
			Examples:       r.Examples,
			Key: func() (string, error) {
				file, err := credentials.Open(path)
				if err != nil {
					return "", err
				}
				return file.Key(r.URL, lookup)
			},
		})
		if err != nil {
			return nil, fmt.Errorf("the model is served elsewhere: %w", err)
		}
		return e, nil
	}
}
