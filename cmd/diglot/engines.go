package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/llamacpp"
	"github.com/diglot/diglot/engine/local/runner"
	"github.com/diglot/diglot/engine/models/library"
	"github.com/diglot/diglot/engine/models/store"
	"github.com/diglot/diglot/engine/script"
)

// engines are all that answer requests: those that flags name, and the store.
type engines struct {
	all   engine.Mux
	files *runner.Engine
	store *library.Engine // nil: there is none

	writes map[string]bool // of the models of a script, by name: it writes text

	models *store.Store // that store serves; nil: there is none
}

// openEngines makes the engines of everything that o names, and of the store.
func openEngines(ctx context.Context, o *serveOptions, env environment, log *slog.Logger) (*engines, error) {
	scripted, writes, err := openScript(o.script, log)
	if err != nil {
		return nil, err
	}
	all := processes(env, log)
	files, err := openRunners(ctx, o, all)
	if err != nil {
		return nil, err
	}
	e := &engines{files: files, all: append(engine.Mux{files}, scripted...), writes: writes}
	if err := checkNames(ctx, e.all); err != nil {
		return nil, errors.Join(err, e.close())
	}
	if err := e.openStore(o, env, all, log); err != nil {
		return nil, errors.Join(err, e.close())
	}
	if len(o.models) > 0 || e.store != nil {
		shareCores(env, 2)
	}
	return e, nil
}

// openStore adds the models of the store. Who serves models by flags, and has
// no home, needs none.
func (e *engines) openStore(o *serveOptions, env environment, all runner.Config, log *slog.Logger) error {
	if _, err := findPlaces(env).modelsDir(); err != nil {
		if len(o.models) > 0 || o.script != "" {
			return nil
		}
		return wrongUsage("serve: nothing to serve: %v; set one, or give --model NAME=FILE.gguf or --script FILE", err)
	}
	store, err := openStore(env)
	if err != nil {
		return err
	}
	e.models = store
	e.store, err = openLibrary(env, store, o.limits, o.library, all, log)
	if err != nil {
		return err
	}
	e.all = append(e.all, e.store) // the last one: it says how to pull what nobody has
	return nil
}

// close ends the processes of all models, with the requests that run.
func (e *engines) close() error {
	var err error
	if e.store != nil {
		err = e.store.Close()
	}
	return errors.Join(err, e.files.Close())
}

// check finds a name to load that no model has.
func (e *engines) check(ctx context.Context, names []string) error {
	for _, name := range names {
		if _, err := e.all.FindModel(ctx, name); err != nil {
			wrong := engine.AsError(err)
			return engine.Errorf(wrong.Code, "--load: %s", wrong.Message).Because(wrong.Err)
		}
	}
	return nil
}

// load loads models one after the other. What cannot be loaded is in the log,
// and no reason to stop serving the others.
func (e *engines) load(ctx context.Context, names []string, log *slog.Logger) {
	for _, name := range names {
		if err := e.Load(ctx, name); err != nil && ctx.Err() == nil {
			log.Error("model was not loaded at the start", "model", name, "err", err)
		}
	}
}

var _ control.Library = (*engines)(nil)

// Load implements [control.Library].
func (e *engines) Load(ctx context.Context, name string) error {
	if _, err := engine.FindModel(ctx, e.files, name); err == nil {
		return e.files.Load(ctx, name)
	}
	if named, err := e.isNamed(ctx, name); named || err != nil {
		return err // a script needs no loading
	}
	return e.store.Load(ctx, name)
}

// Stop implements [control.Library]. Only models of the store come and go.
func (e *engines) Stop(ctx context.Context, name string) error {
	named, err := e.isNamed(ctx, name)
	switch {
	case e.store == nil && hasCode(err, engine.CodeModelNotFound):
		return library.NotLoaded(name)
	case err != nil:
		return err
	case named:
		return engine.Errorf(engine.CodeUnsupported, "The model %q was named by a flag of the server, and stays until that ends.", name)
	}
	return e.store.Stop(ctx, name)
}

// Loaded implements [control.Library]. Models of flags come first, as far as
// their processes run; they have no manifest, and so no digest.
func (e *engines) Loaded() []library.Loaded {
	var all []library.Loaded
	models, _ := e.files.Models(context.Background()) // asks nobody
	for _, m := range models {
		if m.Context > 0 {
			all = append(all, library.Loaded{Name: m.Name, Context: m.Context})
		}
	}
	if e.store == nil {
		return all
	}
	return append(all, e.store.Loaded()...)
}

// Folder implements [control.Library].
func (e *engines) Folder() string {
	if e.models == nil {
		return ""
	}
	return e.models.Dir()
}

// isNamed reports whether a flag named a model. Where there is no store, what no
// flag named is an error.
func (e *engines) isNamed(ctx context.Context, name string) (bool, error) {
	named := e.all
	if e.store != nil {
		named = named[:len(named)-1]
	}
	_, err := named.FindModel(ctx, name)
	if err != nil && e.store != nil && engine.AsError(err).Code == engine.CodeModelNotFound {
		return false, nil
	}
	return err == nil, err
}

// checkNames finds a model of a script that has the name of another model.
func checkNames(ctx context.Context, all engine.Mux) error {
	var names []string
	for _, e := range all {
		models, err := e.Models(ctx)
		if err != nil {
			return err
		}
		for _, m := range models {
			if slices.ContainsFunc(names, func(other string) bool { return engine.SameModel(m.Name, other) }) {
				return fmt.Errorf("model %q is named twice", m.Name)
			}
			names = append(names, m.Name)
		}
	}
	return nil
}

// openScript makes an engine in this process of each model of a script.
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

// processes is what the processes of all models have in common.
func processes(env environment, log *slog.Logger) runner.Config {
	return runner.Config{Log: log, Variables: variablesOfRunner(env), Budget: runner.NewBudget()}
}

// openRunners makes the engine that runs each model file in its process. A
// file that cannot be a model is told now, not to the first client.
func openRunners(ctx context.Context, o *serveOptions, config runner.Config) (*runner.Engine, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for _, m := range o.models {
		if err := llamacpp.Check(m.path); err != nil {
			return nil, fmt.Errorf("model %q: %s: %w", m.name, m.path, err)
		}
		if err := llamacpp.CheckProjector(m.path, m.projector); err != nil {
			return nil, fmt.Errorf("model %q: %w", m.name, err)
		}
		config.Models = append(config.Models, runner.Model{
			Name:    m.name,
			File:    m.path,
			Blind:   m.projector == "",
			Command: runnerCommand(program, m, o.limits),
		})
	}
	if len(o.models) > 0 && !hasLlamacpp() {
		return nil, errors.New("this build has no llama.cpp in it and serves scripts only; build with `make build`")
	}
	return runner.New(ctx, config)
}

// hasLlamacpp reports whether this build can compute models.
func hasLlamacpp() bool {
	info, ok := debug.ReadBuildInfo()
	return !ok || llamacppModule(info) != nil // where it is not known, the process of a model will tell
}

// programVersion is what the commands of this user are told.
func programVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
