package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/cmd/diglot/internal/places"
	"github.com/diglot/diglot/cmd/diglot/internal/process"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/memory"
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
	keepAlive flagvalue.KeepAlive
	memory    flagvalue.Memory
}

func (o *libraryOptions) register(flags *pflag.FlagSet) {
	flags.Var(&o.keepAlive, "keep-alive", "how long an idle model stays loaded: a `TIME` such as 30m, 0 to unload it at once, or forever (default 5m)")
	flags.Var(&o.memory, "max-memory", "limit the memory of all models to `SIZE`, such as 12GB (default what the machine has)")
}

// libraryConfig is what a library needs to serve the store, which may be nil, and
// the files that flags name.
func libraryConfig(env environment, models *store.Store, files process.Files, l process.Limits, o libraryOptions, log *slog.Logger) (library.Config, error) {
	if models != nil && strings.Contains(models.Dir(), ",") { // see process.Files.Set
		return library.Config{}, fmt.Errorf("the model store %s has a comma in its path, which cannot be served; name another place with DIGLOT_MODELS", models.Dir())
	}
	program, err := os.Executable()
	if err != nil {
		return library.Config{}, err
	}
	return library.Config{
		Store:     models,
		Files:     files,
		Log:       log,
		Start:     process.Starter(program, process.Config(env.getenv, log)),
		Upstream:  connector(env, log),
		Plan:      process.PlanMemory,
		Budget:    cmp.Or(int64(o.memory), memory.Budget()),
		Available: memory.Available,
		Context:   int(l.Context),
		Threads:   int(l.Threads),
		Parallel:  int(l.Parallel),
		KeepAlive: time.Duration(o.keepAlive),
	}, nil
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
		path, err := places.Find(env.getenv).CredentialsPath()
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
