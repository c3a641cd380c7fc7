package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/diglot/diglot/cmd/diglot/internal/build"
	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/cmd/diglot/internal/places"
	"github.com/diglot/diglot/cmd/diglot/internal/process"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/imagegen/sdcpp"
	"github.com/diglot/diglot/engine/local/memory"
	"github.com/diglot/diglot/engine/models/credentials"
	"github.com/diglot/diglot/engine/models/library"
	"github.com/diglot/diglot/engine/models/modelfile"
	"github.com/diglot/diglot/engine/models/store"
	"github.com/diglot/diglot/engine/script"
	"github.com/diglot/diglot/engine/upstream"
	"github.com/diglot/diglot/handlers/site"
	"github.com/diglot/diglot/internal/budget"
)

// engines are the engines of a server: scripts, and a library of the store and the
// --model files.
type engines struct {
	all     engine.Mux
	scripts engine.Mux
	writes  map[string]bool // whether a scripted model generates text, by name
	library *library.Engine // nil: only scripts
	models  *store.Store    // of the library; nil: none
}

// openEngines makes the engines of the store and of what o names.
func openEngines(ctx context.Context, o *serveOptions, env environment, log *slog.Logger) (*engines, error) {
	scripts, writes, err := openScript(o.script, log)
	if err != nil {
		return nil, err
	}
	if err := o.models.Check(); err != nil {
		return nil, err
	}
	if err := o.limits.Draft.Check(); err != nil {
		return nil, fmt.Errorf("--draft: %w", err)
	}
	if err := checkNames(ctx, o.models, scripts); err != nil {
		return nil, err
	}
	e := &engines{scripts: scripts, writes: writes}
	if e.models, err = storeToServe(o, env); err != nil {
		return nil, err
	}
	if e.models != nil || len(o.models) > 0 {
		config, err := libraryConfig(env, e.models, o.models, o.limits, o.library, log)
		if err != nil {
			return nil, err
		}
		e.library = library.New(config)
		if err := e.library.CheckDraft(); err != nil {
			return nil, engine.Errorf(err.Code, "--draft: %s", err.Message).Because(err.Err)
		}
		process.ShareCores(env.getenv, 2)
	}
	e.all = joined(scripts, e.library)
	return e, nil
}

// joined combines scripts and a library. The library is last, because its error
// for an unknown model tells how to pull it.
func joined(scripts engine.Mux, l *library.Engine) engine.Mux {
	if l == nil {
		return scripts
	}
	return append(slices.Clip(scripts), l)
}

// storeToServe opens the store. It returns nil for a user without a home directory
// who serves models only by flags.
func storeToServe(o *serveOptions, env environment) (*store.Store, error) {
	_, err := places.Find(env.getenv).ModelsDir()
	switch {
	case err == nil:
		return openStore(env)
	case len(o.models) > 0 || o.script != "":
		return nil, nil
	}
	return nil, exit.Usage("serve: nothing to serve: %v; set one, or use --model NAME=FILE.gguf or --script FILE", err)
}

// close ends all runners, with their running requests.
func (e *engines) close() error {
	if e.library == nil {
		return nil
	}
	return e.library.Close()
}

// check fails for a name of --load without a model.
func (e *engines) check(ctx context.Context, names []string) error {
	for _, name := range names {
		if _, err := e.all.FindModel(ctx, name); err != nil {
			wrong := engine.AsError(err)
			return engine.Errorf(wrong.Code, "--load: %s", wrong.Message).Because(wrong.Err)
		}
	}
	return nil
}

// begin loads models while the caller goes on, and returns a function that waits for them.
func (e *engines) begin(ctx context.Context, names []string, log *slog.Logger) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.load(ctx, names, log)
	}()
	return func() { <-done }
}

// load loads models one after the other. Errors are only logged, so that the other
// models are served.
func (e *engines) load(ctx context.Context, names []string, log *slog.Logger) {
	for _, name := range names {
		if err := e.Load(ctx, name); err != nil && ctx.Err() == nil {
			log.Error("model not loaded at startup", "model", name, "err", err)
		}
	}
}

var _ control.Library = (*engines)(nil)

// Load implements [control.Library].
func (e *engines) Load(ctx context.Context, name string) error {
	scripted, err := e.isScripted(ctx, name)
	if scripted || err != nil {
		return err // a script is always loaded
	}
	return e.library.Load(ctx, name)
}

// Stop implements [control.Library]. Scripts cannot be unloaded.
func (e *engines) Stop(ctx context.Context, name string) error {
	scripted, err := e.isScripted(ctx, name)
	switch {
	case exit.HasCode(err, engine.CodeModelNotFound):
		return library.NotLoaded(name)
	case err != nil:
		return err
	case scripted:
		return engine.Errorf(engine.CodeUnsupported, "The model %q is a script of --script and cannot be unloaded.", name)
	}
	return e.library.Stop(ctx, name)
}

// Draws implements [control.Library].
func (e *engines) Draws(ctx context.Context, name string) (bool, error) {
	m, err := e.all.FindModel(ctx, name)
	return m.Draws, err
}

// Loaded implements [control.Library].
func (e *engines) Loaded() []library.Loaded {
	if e.library == nil {
		return nil
	}
	return e.library.Loaded()
}

// Folder implements [control.Library].
func (e *engines) Folder() string {
	if e.models == nil {
		return ""
	}
	return e.models.Dir()
}

// free is how many bytes are free for models that are not loaded; 0: that is not known.
func (e *engines) free() int64 {
	if e.library != nil {
		bytes, _ := e.library.Free()
		return bytes
	}
	bytes, err := memory.Available()
	if err != nil {
		return 0
	}
	return bytes
}

// status is what the page at / shows of this machine. Scripts are always loaded.
func (e *engines) status(ctx context.Context, limit int64) site.Status {
	s := site.Status{Version: build.Version(), Limit: limit}
	s.Available = e.free()
	if scripts, err := e.scripts.Models(ctx); err == nil {
		for _, m := range scripts {
			s.Loaded = append(s.Loaded, site.Loaded{Name: m.Name})
		}
	}
	for _, l := range e.Loaded() {
		shown := site.Loaded{Name: l.Name, Others: l.Others, Context: l.Context, Size: l.Size, Requests: l.Requests, Until: l.Until, Loading: l.Loading, Stopping: l.Stopping}
		if l.Remote != "" {
			shown.Host = hostOf(l.Remote)
		}
		s.Loaded = append(s.Loaded, shown)
	}
	return s
}

// isScripted reports whether a model is scripted. Without a library, any other
// model is an error.
func (e *engines) isScripted(ctx context.Context, name string) (bool, error) {
	_, err := e.scripts.FindModel(ctx, name)
	if e.library != nil && exit.HasCode(err, engine.CodeModelNotFound) {
		return false, nil
	}
	return err == nil, err
}

// checkNames fails if two models of flags have the same name.
func checkNames(ctx context.Context, files process.Files, scripts engine.Mux) error {
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	for _, e := range scripts {
		models, err := e.Models(ctx)
		if err != nil {
			return err
		}
		for _, m := range models {
			names = append(names, m.Name)
		}
	}
	for i, name := range names {
		if slices.ContainsFunc(names[:i], func(other string) bool { return engine.SameModel(store.Shortest(name), store.Shortest(other)) }) {
			return fmt.Errorf("model %q is named twice", name)
		}
	}
	return nil
}

// openScript makes an engine for each model of a script.
func openScript(path string, log *slog.Logger) (all engine.Mux, writes map[string]bool, err error) {
	if path == "" {
		return nil, nil, nil
	}
	models, err := script.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("script: %w", err)
	}
	writes = map[string]bool{}
	for _, m := range models {
		e, err := m.Engine(log, time.Now)
		if err != nil {
			return nil, nil, fmt.Errorf("script: model %q: %w", m.Info().Name, err)
		}
		all = append(all, e)
		writes[m.Info().Name] = m.Writes()
	}
	return all, writes, nil
}

// libraryOptions are the flags for loading and unloading models.
type libraryOptions struct {
	keepAlive flagvalue.KeepAlive
	memory    flagvalue.Memory
	imagegen  string // empty: where it usually is
}

func (o *libraryOptions) register(flags *pflag.FlagSet) {
	flags.Var(&o.keepAlive, "keep-alive", "how long an idle model stays loaded: a `TIME` such as 30m, 0 to unload it at once, or forever (default 5m)")
	flags.StringVar(&o.imagegen, "imagegen", "", "draw with the image engine in `FILE` (default the one beside this program, or the one of \"make imagegen\")")
	flags.Var(&o.memory, "max-memory", "limit the memory of all models to `SIZE`, such as 12GB (default what the machine has)")
}

// limit is how many bytes all models may use; 0: what the machine has.
func (o *libraryOptions) limit() int64 { return cmp.Or(int64(o.memory), memory.Budget()) }

// findImagegen returns a function that finds the library of the image engine, which
// may be built while the server runs.
func (o *libraryOptions) findImagegen(program string, env environment) func() (string, error) {
	return func() (string, error) {
		return sdcpp.Find(sdcpp.Places{Chosen: o.imagegen, Program: program, Cache: places.Cache(env.getenv)})
	}
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
	runs, err := process.ForThisProcessor(program, env.getenv("DIGLOT_VARIANT"))
	if err != nil {
		return library.Config{}, err
	}
	runs.Log(log)
	return library.Config{
		Store:     models,
		Files:     files,
		Log:       log,
		Start:     process.Starter(runs.Path, l, process.Config(env.getenv, log), o.findImagegen(program, env)),
		Upstream:  connector(env, log),
		Plan:      process.Planner(l),
		Budget:    o.limit(),
		Available: memory.Available,
		Context:   int(l.Context),
		Threads:   int(l.Threads),
		Parallel:  int(l.Parallel),
		Draft:     l.Draft.Name(),
		DraftFile: l.Draft.File(),
		CanDraft:  l.Draft.CanDraft(log),
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
