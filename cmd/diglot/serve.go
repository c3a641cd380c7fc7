package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/diglot/diglot/cmd/diglot/internal/build"
	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/cmd/diglot/internal/process"
	"github.com/diglot/diglot/cmd/diglot/internal/serving"
	reference "github.com/diglot/diglot/gen/site"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/site"
	"github.com/diglot/diglot/internal/hostname"
)

// grace is how long running requests may go on after a signal.
const grace = 10 * time.Second

// defaultDrain is long enough for two probes of a load balancer.
const defaultDrain = 10 * time.Second

// localConnections are for the commands of this user.
const localConnections = 32

// serveOptions are the flags of serve.
type serveOptions struct {
	serving.Options
	models  process.Files
	script  string
	limits  process.Limits
	library libraryOptions
	load    flagvalue.List // names of models
	socket  string         // empty: where the environment says
	trace   string
	images  flagvalue.List // hosts
	drain   time.Duration
}

func newServe(env environment) *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve models over HTTP",
		Long: `Serve the models on this machine over HTTP, and those of --model and --script, which
take precedence over stored models of the same name. A model is loaded by its first
request.

With systemd socket activation, the sockets of systemd replace --listen.`,
		Example: "  diglot serve\n  diglot serve --model qwen=qwen2.5-7b.gguf\n  diglot serve --script models.yaml",
		GroupID: groupServer,
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return serve(c.Context(), &o, env)
		},
	}
	o.register(c.Flags())
	return c
}

func (o *serveOptions) register(flags *pflag.FlagSet) {
	o.Options.Register(flags)
	flags.Var(&o.models, "model", "serve a GGUF file under a name, with a vision projector (mmproj) if it has one, or the files of an image model: `NAME=FILE[,FILE...]`; repeatable")
	flags.StringVar(&o.script, "script", "", "serve the scripted models in `FILE`")
	o.limits.Register(flags)
	o.library.register(flags)
	flags.Var(&o.load, "load", "load model `NAME` at startup; repeatable")
	flags.StringVar(&o.socket, "socket", "", "`PATH` of the control socket for ps, load, stop and run, or none; also DIGLOT_SOCKET (default ~/.diglot/diglot.sock)")
	flags.StringVar(&o.trace, "trace", "", "append one JSON line per request to `FILE`")
	o.drain = defaultDrain
	flags.Var(flagvalue.Span{To: &o.drain, Least: 0, Most: time.Hour}, "drain", "after SIGTERM, keep accepting requests for `TIME` while /readyz fails")
	flags.Var(&o.images, "allow-image-host", "fetch images from host `NAME` even if its address is not public; repeatable")
}

// check finds what cannot be meant.
func (o *serveOptions) check() error {
	for _, host := range o.images {
		if !hostname.Is(host) {
			return exit.Usage("serve: --allow-image-host is %q, not a name without scheme and port", host)
		}
	}
	return o.Options.Check("serve")
}

// serve serves until ctx ends.
func serve(ctx context.Context, o *serveOptions, env environment) error {
	log := slog.New(slog.NewTextHandler(env.stderr, nil))

	// Running requests outlive ctx, so their runners must, too.
	e, err := openEngines(context.WithoutCancel(ctx), o, env, log)
	if err != nil {
		return err
	}
	defer func() { _ = e.close() }()
	if err := e.check(ctx, o.load); err != nil {
		return err
	}
	trace, closeTrace, err := openTrace(o.trace)
	if err != nil {
		return err
	}
	defer closeTrace()
	keys, err := o.Keys.Open(ctx, "serve", env.getenv, log)
	if err != nil {
		return err
	}
	listeners, local, err := o.listen(env, keys, log)
	if err != nil {
		return err
	}
	loading, stopLoading := context.WithCancel(ctx)
	loaded := e.begin(loading, o.load, log) // during what follows, mostly the reading of the documents
	defer loaded()
	defer stopLoading()
	ready := &serving.Readiness{}
	shutdown, finish := context.WithCancel(context.WithoutCancel(ctx))
	defer finish()
	config := o.config(e, keys, ready, trace, log)
	config.Shutdown = shutdown
	cutOff := func() {
		finish()
		_ = e.close()
	}
	public, err := handlers.New(config)
	if err != nil {
		return errors.Join(err, serving.CloseAll(listeners), serving.CloseAll(local))
	}
	services := serving.Services{}
	services.Add(listeners, o.Bounds.Connections(log), &serving.Service{Handler: public, Grace: grace, CutOff: cutOff, Log: log})
	if err := addLocal(services, e, config, local, cutOff); err != nil {
		return errors.Join(err, services.Close(), serving.CloseAll(local))
	}
	if err := greet(ctx, env, listeners[0].Addr(), e, o); err != nil {
		return errors.Join(err, services.Close())
	}
	ctx, end := ready.Outlast(ctx, o.drain, log)
	defer end()
	return services.Serve(ctx, func(ctx context.Context) error {
		defer context.AfterFunc(ctx, stopLoading)()
		loaded()
		ready.Loaded.Store(true)
		<-ctx.Done()
		log.Info("shutting down")
		return nil
	})
}

// listen opens the sockets: those for clients, and the one for the commands of this user,
// if there is one. Who connects waits until they are served. Programs wait for the line
// that is printed, so it comes before those of models.
func (o *serveOptions) listen(env environment, keys *handlers.Keys, log *slog.Logger) (public, local []net.Listener, err error) {
	public, err = o.Open("serve", env.getenv, keys)
	if err != nil {
		return nil, nil, err
	}
	l, err := serving.ListenLocally(env.getenv, o.socket, log)
	if err != nil {
		return nil, nil, errors.Join(err, serving.CloseAll(public))
	}
	if l != nil {
		local = append(local, l)
	}
	fmt.Fprintf(env.stderr, "listening on http://%s\n", public[0].Addr())
	if keys == nil {
		serving.WarnOpen(public, log)
	}
	return public, local, nil
}

// config is the configuration of the handlers.
func (o *serveOptions) config(e *engines, keys *handlers.Keys, ready *serving.Readiness, trace io.Writer, log *slog.Logger) handlers.Config {
	c := o.Config(keys, log)
	c.Engine, c.AllowImageHosts, c.Trace, c.Ready, c.Docs = e.all, o.images, trace, ready.Is, reference.Files
	c.Status = func(ctx context.Context) site.Status { return e.status(ctx, o.library.limit()) }
	return c
}

// addLocal adds what the commands of this user ask, whom no key is asked of.
func addLocal(s serving.Services, e *engines, config handlers.Config, local []net.Listener, cutOff func()) error {
	if len(local) == 0 {
		return nil
	}
	config.Keys = nil
	api, err := handlers.New(config)
	if err != nil {
		return err
	}
	handler := control.New(control.Config{
		Library: e,
		API:     api,
		Paced:   func(commands http.Handler) http.Handler { return handlers.Paced(commands, config.Stall) },
		Version: build.Version(),
		Log:     config.Log,
	})
	s.Add(local, handlers.ConnectionLimits{All: localConnections},
		&serving.Service{Handler: handler, Grace: grace, CutOff: cutOff, Log: config.Log})
	return nil
}

// openTrace opens the trace file. Only the owner may read it, because it contains
// prompts.
func openTrace(path string) (io.Writer, func(), error) {
	if path == "" {
		return nil, func() {}, nil
	}
	// With O_NONBLOCK, a named pipe without a reader is an error, not a hang.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}
