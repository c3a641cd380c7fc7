package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

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
	"github.com/diglot/diglot/openapi"
)

// grace is how long running requests may go on after a signal.
const grace = 10 * time.Second

// localConnections are for the commands of this user.
const localConnections = 32

// serveOptions are the flags of serve.
type serveOptions struct {
	listen  string
	models  process.Files
	script  string
	limits  process.Limits
	library libraryOptions
	load    flagvalue.List // names of models
	socket  string         // empty: where the environment says
	profile string
	strict  bool
	trace   string
	keys    serving.Keys
	public  bool // other machines may use the server without a key
	bounds  serving.Bounds
	origins flagvalue.List
	hosts   flagvalue.List
	images  flagvalue.List // hosts
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
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8484", "listen on `HOST:PORT`")
	flags.Var(&o.models, "model", "serve a GGUF file under a name, with a vision projector (mmproj) if it has one: `NAME=FILE[,PROJECTOR]`; repeatable")
	flags.StringVar(&o.script, "script", "", "serve the scripted models in `FILE`")
	o.limits.Register(flags)
	o.library.register(flags)
	flags.Var(&o.load, "load", "load model `NAME` at startup; repeatable")
	flags.StringVar(&o.socket, "socket", "", "`PATH` of the control socket for ps, load, stop and run, or none; also DIGLOT_SOCKET (default ~/.diglot/diglot.sock)")
	flags.StringVar(&o.profile, "profile", string(openapi.ProfileDefault), "API `PROFILE`: default for what clients need, or document for the letter of the interface document")
	flags.BoolVar(&o.strict, "strict", false, "refuse requests with fields that would be ignored")
	flags.StringVar(&o.trace, "trace", "", "append one JSON line per request to `FILE`")
	flags.Var(flagvalue.Path{To: &o.keys.File}, "api-key-file", "require an API key from `FILE`, which has one NAME: KEY per line; reloaded when it changes")
	flags.Var(&o.keys.Fixed, "api-key", "require API key `KEY`; every user of this machine can see it in the process list; also DIGLOT_API_KEY; repeatable (default any key)")
	flags.BoolVar(&o.public, "insecure-public", false, "serve other machines without API keys")
	o.bounds.Register(flags)
	flags.Var(&o.origins, "allow-origin", "allow browser pages from `ORIGIN` (SCHEME://HOST[:PORT], or * for all) besides those on this machine; repeatable")
	flags.Var(&o.hosts, "allow-host", "accept `NAME` in the Host header besides local names; repeatable")
	flags.Var(&o.images, "allow-image-host", "fetch images from host `NAME` even if its address is not public; repeatable")
}

// check finds what cannot be meant: an origin or a host that no browser
// sends would be a flag without effect.
func (o *serveOptions) check() error {
	if o.profile != string(openapi.ProfileDefault) && o.profile != string(openapi.ProfileDocument) {
		return exit.Usage("serve: --profile is %q, not %s or %s", o.profile, openapi.ProfileDefault, openapi.ProfileDocument)
	}
	if host, _, err := net.SplitHostPort(o.listen); err != nil || host != "" && !hostname.Is(host) && !isAddress(host) {
		return exit.Usage("serve: --listen is %q, not HOST:PORT", o.listen)
	}
	for _, origin := range o.origins {
		if !isOrigin(origin) {
			return exit.Usage("serve: --allow-origin is %q, not SCHEME://HOST[:PORT] or *", origin)
		}
	}
	for _, host := range o.hosts {
		if !hostname.Is(host) || strings.Contains(host, ":") {
			return exit.Usage("serve: --allow-host is %q, not a name without scheme and port", host)
		}
	}
	for _, host := range o.images {
		if !hostname.Is(host) {
			return exit.Usage("serve: --allow-image-host is %q, not a name without scheme and port", host)
		}
	}
	return o.bounds.Check()
}

// isAddress reports whether s is an IP address. It may have a zone, as link-local
// addresses need one.
func isAddress(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

// isOrigin reports whether s is * or an Origin as browsers send it, such as null for
// a file.
func isOrigin(s string) bool {
	if s == "*" || s == "null" {
		return true
	}
	scheme, host, ok := strings.Cut(s, "://")
	name, port := host, "" // url.Parse accepts more forms than browsers send
	if at := strings.LastIndexByte(host, ':'); at > strings.LastIndexByte(host, ']') {
		name, port = host[:at], host[at+1:]
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return false
		}
	}
	if inner, bracketed := strings.CutPrefix(name, "["); bracketed {
		name, bracketed = strings.CutSuffix(inner, "]")
		ok = ok && bracketed && strings.Contains(name, ":")
	}
	return ok && originScheme.MatchString(scheme) && hostname.Is(name) && s == strings.ToLower(s)
}

var originScheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)

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
	keys, err := o.keys.Open(ctx, env.getenv, log)
	if err != nil {
		return err
	}
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
		return err
	}
	listeners, err := serving.Listen(env.getenv, o.listen)
	if err != nil {
		return err
	}
	if err := serving.CheckOpen(listeners, keys != nil || o.public); err != nil {
		return errors.Join(err, serving.CloseAll(listeners))
	}
	connections := handlers.NewConnections(o.bounds.Connections(log))
	services := services{}
	for _, l := range listeners {
		l = connections.Listen(l)
		services[l] = &serving.Service{Handler: public, Grace: grace, CutOff: cutOff, Log: log}
	}
	if err := services.addLocal(e, config, o.socket, cutOff, env); err != nil {
		return errors.Join(err, services.close())
	}
	fmt.Fprintf(env.stderr, "listening on http://%s\n", listeners[0].Addr())
	if keys == nil {
		serving.WarnOpen(listeners, log)
	}
	if err := greet(ctx, env, listeners[0].Addr(), e, o); err != nil {
		return errors.Join(err, services.close())
	}
	ctx, end := ready.Outlast(ctx, o.bounds.Drain, log)
	defer end()
	return services.serve(ctx, func(ctx context.Context) {
		e.load(ctx, o.load, log)
		ready.Loaded.Store(true)
		<-ctx.Done()
		log.Info("shutting down")
	})
}

// config is the configuration of the handlers.
func (o *serveOptions) config(e *engines, keys *handlers.Keys, ready *serving.Readiness, trace io.Writer, log *slog.Logger) handlers.Config {
	return handlers.Config{
		Engine:       e.all,
		Log:          log,
		Profile:      openapi.Profile(o.profile),
		Strict:       o.strict,
		Keys:         keys,
		Listen:       o.listen,
		AllowHosts:   o.hosts,
		AllowOrigins: o.origins,
		Trace:        trace,

		AllowImageHosts: o.images,

		MaxBody: int64(o.bounds.Body),
		Budget:  o.bounds.Budget(),
		Stall:   o.bounds.Stall,
		Ready:   ready.Is,
		Status:  func(ctx context.Context) site.Status { return e.status(ctx, o.library.limit()) },
		Docs:    reference.Files,
	}
}

// services are what is served to whom.
type services map[net.Listener]*serving.Service

// addLocal adds what the commands of this user ask, whom no key is asked of.
func (s services) addLocal(e *engines, config handlers.Config, socket string, cutOff func(), env environment) error {
	l, err := serving.ListenLocally(env.getenv, socket, config.Log)
	if err != nil || l == nil {
		return err
	}
	config.Keys = nil
	api, err := handlers.New(config)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	handler := control.New(control.Config{
		Library: e,
		API:     api,
		Paced:   func(commands http.Handler) http.Handler { return handlers.Paced(commands, config.Stall) },
		Version: build.Version(),
		Log:     config.Log,
	})
	l = handlers.NewConnections(handlers.ConnectionLimits{All: localConnections}).Listen(l)
	s[l] = &serving.Service{Handler: handler, Grace: grace, CutOff: cutOff, Log: config.Log}
	return nil
}

// serve serves until ctx ends, and runs beside concurrently.
func (s services) serve(ctx context.Context, beside func(context.Context)) error {
	group, ctx := errgroup.WithContext(ctx)
	for l, service := range s {
		group.Go(func() error { return service.Serve(ctx, l) })
	}
	group.Go(func() error {
		beside(ctx)
		return nil
	})
	return group.Wait()
}

func (s services) close() error {
	var all []error
	for l := range s {
		all = append(all, l.Close())
	}
	return errors.Join(all...)
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
