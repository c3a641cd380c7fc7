package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mattn/go-sixel"

	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/cmd/diglot/internal/drawing"
	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/places"
	"github.com/diglot/diglot/cmd/diglot/internal/process"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal/conversation"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/library"
	"github.com/diglot/diglot/engine/models/store"
	"github.com/diglot/diglot/engine/upstream"
	"github.com/diglot/diglot/handlers/openai"
)

// host runs the models of a run command: in the running server, or in this
// process.
type host struct {
	env      environment
	transfer transferOptions
	store    *store.Store
	server   *control.Client // nil: none is running
	served   string          // path of the server's store; empty: none
	local    *library.Engine // without a server
	late     *lateWriter     // log of local
	ending   []func()
}

func openHost(ctx context.Context, env environment, o transferOptions) (*host, error) {
	store, err := openStore(env)
	if err != nil {
		return nil, err
	}
	h := &host{env: env, transfer: o, store: store, late: &lateWriter{w: env.stderr}}
	server, err := dial(env)
	if err != nil {
		return nil, err
	}
	h.ending = append(h.ending, server.Close)
	runs, err := running(ctx, server)
	if err != nil {
		return nil, err
	}
	if runs {
		h.server = server
		if h.served, err = server.Models(ctx); err == nil {
			err = checkStore(h.served, store.Dir())
		}
		return h, err
	}
	// A chat has one request at a time, and needs the memory for its context.
	env.stderr = h.late
	log := warnings(env)
	config, err := libraryConfig(env, store, nil, process.Limits{Parallel: 1}, libraryOptions{keepAlive: -1}, log)
	if err != nil {
		return nil, err
	}
	local := library.New(config)
	h.local = local
	h.ending = append(h.ending, func() { _ = local.Close() })
	return h, nil
}

func (h *host) close() {
	for _, end := range h.ending {
		end()
	}
}

// open returns the engine for a model, and pulls it if missing.
func (h *host) open(ctx context.Context, n store.Name) (engine.Engine, error) {
	if err := h.fetch(ctx, n); err != nil {
		return nil, err
	}
	if h.server == nil {
		return newNoting(h.local, h.late), nil
	}
	e, err := upstream.New(upstream.Config{
		BaseURL: control.BaseURL + "/v1",
		Model:   n.String(),
		Log:     warnings(h.env),
		HTTP:    h.server.HTTP(),
		Errors:  upstream.Own{Ended: "The diglot server has stopped. Start it with: diglot serve", Code: openai.ErrorCode},
		Tries:   1, // the server retries itself
		Lacks:   ownLacks,
	})
	if err != nil {
		return nil, err
	}
	return newNoting(e, h.late), nil
}

// ownLacks are the members that servers of others may know, and this one
// would note as ignored.
var ownLacks = []string{"return_progress", "continuous_usage_stats", "chat_template_kwargs"}

// fetch pulls a model unless the store or the server has it.
func (h *host) fetch(ctx context.Context, n store.Name) error {
	_, err := h.store.Model(n)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if h.server != nil {
		has, err := serves(ctx, h.server, n.String())
		switch {
		case has || err != nil:
			return err
		case h.served == "":
			return fmt.Errorf("the running server has no model store, only the models of its flags; %s is not one of them", n)
		}
	}
	fmt.Fprintf(h.env.stderr, "%s is not on this machine; pulling it\n", n)
	_, err = pull(ctx, h.env, h.store, n, h.transfer)
	return err
}

// maxList bounds a server's list of models, in bytes.
const maxList = 64 << 20

// serves reports whether the server lists a model. It may have models of flags that
// are not in the store.
func serves(ctx context.Context, server *control.Client, name string) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, control.BaseURL+"/v1/models", nil)
	if err != nil {
		return false, err
	}
	reply, err := server.HTTP().Do(req)
	var withURL *url.Error
	switch {
	case errors.As(err, &withURL):
		return false, withURL.Err // the URL means nothing to the user
	case err != nil:
		return false, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return false, fmt.Errorf("the server does not list its models: it answers %s", reply.Status)
	}
	var models struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(nil, reply.Body, maxList)).Decode(&models); err != nil {
		return false, fmt.Errorf("the server's list of models is invalid: %w", err)
	}
	for _, m := range models.Data {
		if engine.SameModel(m.ID, name) {
			return true, nil
		}
	}
	return false, nil
}

// askOnce runs one prompt and prints the answer. Images are attached for paths in
// the prompt, which the user typed, but not in piped text, which may come from
// anyone.
func (h *host) askOnce(ctx context.Context, n store.Name, settings conversation.Settings, prompt, piped string) error {
	prompt, images, _, err := conversation.Attach(prompt, places.Home(h.env.getenv))
	if err != nil {
		return err
	}
	for _, path := range conversation.Missing(prompt, places.Home(h.env.getenv)) {
		fmt.Fprintf(h.env.stderr, "no such image: %s; sent as text\n", path)
	}
	e, err := h.open(ctx, n)
	if err != nil {
		return err
	}
	text := strings.Join(notEmpty(prompt, piped), "\n\n")
	return conversation.New(conversation.Options{
		Engine:   engine.Checked(e),
		Model:    n.String(),
		Settings: settings,
		Screen:   conversation.Screen{Answers: h.env.stdout, Notes: h.env.stderr, Person: terminal.Is(h.env.stdout)},
	}).Ask(ctx, text, images)
}

// draws reports whether the running server, which may have models of flags, or the store
// has an image model of this name.
func draws(ctx context.Context, env environment, n store.Name) bool {
	if server, err := dial(env); err == nil { // openHost says why not
		defer server.Close()
		if draws, err := server.Draws(ctx, n.String()); err == nil && draws {
			return true
		}
	}
	dir, err := places.Find(env.getenv).ModelsDir()
	if err != nil {
		return false // openHost says why
	}
	models, err := store.Open(store.Options{Dir: dir, Log: warnings(env)})
	if err != nil {
		return false
	}
	m, err := models.Model(n)
	return err == nil && slices.ContainsFunc(m.Manifest.Layers, func(l store.Layer) bool { return l.MediaType == store.MediaTypeDiffusion })
}

// draw runs one prompt of an image model.
func (h *host) draw(ctx context.Context, n store.Name, o runOptions, prompt string) error {
	req := engine.ImageRequest{Model: n.String(), Prompt: prompt}
	for _, one := range o.set {
		name, value, ok := strings.Cut(one, "=")
		if !ok {
			return exit.Usage("run: --set is %q, not NAME=VALUE", one)
		}
		if err := drawing.Set(&req, name, value); err != nil {
			return exit.Usage("run: %v", err)
		}
	}
	e, err := h.open(ctx, n)
	if err != nil {
		return err
	}
	return drawing.Run(ctx, drawing.Options{
		Engine: e, Request: req, Path: o.out, Out: h.env.stdout, Notes: h.env.stderr, Getenv: h.env.getenv, Sixel: sixel.IsSupported,
		Step: func(ctx context.Context) (step, of int) { return h.step(ctx, n) },
	})
}

// step is how far the image of a model is.
func (h *host) step(ctx context.Context, n store.Name) (step, of int) {
	if h.server == nil {
		for _, l := range h.local.Loaded() {
			if engine.SameModel(l.Name, n.String()) {
				return l.Step, l.Of
			}
		}
		return 0, 0
	}
	loaded, err := h.server.Loaded(ctx)
	if err != nil {
		return 0, 0
	}
	for _, m := range loaded {
		if engine.SameModel(m.Name, n.String()) {
			return m.Step, m.Of
		}
	}
	return 0, 0
}

func notEmpty(texts ...string) []string {
	var left []string
	for _, t := range texts {
		if t != "" {
			left = append(left, t)
		}
	}
	return left
}

// noting tells the user of a chat once about each setting that the model's server
// ignores.
type noting struct {
	engine.Engine
	notes io.Writer
	told  map[string]bool // settings
}

func newNoting(e engine.Engine, notes io.Writer) *noting {
	return &noting{Engine: e, notes: notes, told: map[string]bool{}}
}

// Generate implements [engine.Engine]. A chat has one request at a time.
func (n *noting) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		for event, err := range n.Engine.Generate(ctx, req) {
			if start, ok := event.(engine.Start); ok {
				n.note(start.Ignored)
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

func (n *noting) note(settings []string) {
	for _, s := range settings {
		if !n.told[s] {
			n.told[s] = true
			fmt.Fprintf(n.notes, "%s has no effect: the model's server does not support it\n", s)
		}
	}
}

// dial makes a client for the user's server. Its first request fails if none runs.
func dial(env environment) (*control.Client, error) {
	path, err := places.Find(env.getenv).SocketPath()
	if err != nil {
		return nil, err
	}
	return control.Dial(path), nil
}

// running reports whether a server answers.
func running(ctx context.Context, server *control.Client) (bool, error) {
	_, err := server.Version(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		return false, nil
	}
	return err == nil, err
}

// checkStore fails if the server's store is not this command's, because the two
// would not see each other's models. served is empty for a server without a store.
func checkStore(served, own string) error {
	if served == "" || sameFolder(served, own) {
		return nil
	}
	return fmt.Errorf("the running server uses the model store %s, and this command %s; set DIGLOT_MODELS=%s", served, own, served)
}

// sameFolder compares absolute paths, which may contain symbolic links and need not
// exist.
func sameFolder(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	switch {
	case errA == nil && errB == nil:
		return os.SameFile(infoA, infoB)
	case errA == nil || errB == nil:
		return false
	}
	return filepath.Base(a) == filepath.Base(b) && (a == b || sameFolder(filepath.Dir(a), filepath.Dir(b)))
}
