package contract

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/diglot/diglot/cassettes"
	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/cmd/diglot/internal/replay"
	"github.com/diglot/diglot/cmd/diglot/internal/replay/fault"
	"github.com/diglot/diglot/cmd/diglot/internal/serving"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/internal/cassette"
	"github.com/diglot/diglot/openapi"
)

//go:embed replay.md
var replayHelp string

// replayOptions are the flags of replay.
type replayOptions struct {
	listen    string
	profile   string
	strict    bool
	pace      pace
	cassettes string
	faults    string
	models    flagvalue.List
	only      bool
	keys      serving.Keys
	public    bool
	bounds    serving.Bounds
	origins   flagvalue.List
	hosts     flagvalue.List
}

// newReplay is the command that serves without a model.
func newReplay(env Environment) *cobra.Command {
	var o replayOptions
	c := &cobra.Command{
		Use:   "replay",
		Short: "Serve both APIs without a model, to test a client",
		Long:  strings.TrimSpace(replayHelp),
		Example: `  diglot replay
  diglot replay --pace 20 --model gpt-5
  diglot replay --cassettes testdata/cassettes --faults faults.yaml`,
		GroupID: Group,
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return o.serve(c.Context(), env)
		},
	}
	o.register(c.Flags())
	return c
}

func (o *replayOptions) register(flags *pflag.FlagSet) {
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8484", "listen on `HOST:PORT`")
	flags.StringVar(&o.profile, "profile", string(openapi.ProfileDefault), "API `PROFILE`: default for what clients need, or document for the letter of the interface document")
	flags.BoolVar(&o.strict, "strict", false, "refuse requests with fields that would be ignored")
	flags.Var(&o.pace, "pace", "send the events of streams at `SPEED`: a number per second, or the time between two, such as 50ms (default at once)")
	flags.Var(flagvalue.Path{To: &o.cassettes}, "cassettes", "answer with the recorded exchanges of `FOLDER` first")
	flags.Var(flagvalue.Path{To: &o.faults}, "faults", "fail the requests that the rules in `FILE` name")
	flags.Var(&o.models, "model", "list model `NAME`; repeatable (default mock)")
	flags.BoolVar(&o.only, "only-models", false, "serve the listed models only: other names are a 404")
	flags.Var(flagvalue.Path{To: &o.keys.File}, "api-key-file", "require an API key from `FILE`, which has one NAME: KEY per line; reloaded when it changes")
	flags.Var(&o.keys.Fixed, "api-key", "require API key `KEY`; also DIGLOT_API_KEY; repeatable (default any key)")
	flags.BoolVar(&o.public, "insecure-public", false, "serve other machines without API keys")
	o.bounds.Register(flags)
	flags.Var(&o.origins, "allow-origin", "allow browser pages from `ORIGIN` (SCHEME://HOST[:PORT], or * for all) besides those on this machine; repeatable")
	flags.Var(&o.hosts, "allow-host", "accept `NAME` in the Host header besides local names; repeatable")
}

func (o *replayOptions) check() error {
	if o.profile != string(openapi.ProfileDefault) && o.profile != string(openapi.ProfileDocument) {
		return exit.Usage("replay: --profile is %q, not %s or %s", o.profile, openapi.ProfileDefault, openapi.ProfileDocument)
	}
	if _, _, err := net.SplitHostPort(o.listen); err != nil {
		return exit.Usage("replay: --listen is %q, not HOST:PORT", o.listen)
	}
	return o.bounds.Check()
}

// replayGrace is how long running requests may go on after a signal.
const replayGrace = 2 * time.Second

// serve serves until ctx ends. The socket is open before the documents are compiled:
// requests that come earlier wait.
func (o *replayOptions) serve(ctx context.Context, env Environment) error {
	log := slog.New(slog.NewTextHandler(env.Stderr, nil))
	keys, err := o.keys.Open(ctx, env.Getenv, log)
	if err != nil {
		return err
	}
	var rules *fault.Rules
	if o.faults != "" {
		if rules, err = fault.Open(o.faults); err != nil {
			return fmt.Errorf("--faults: %w", err)
		}
	}
	recordings, err := o.recordings()
	if err != nil {
		return err
	}
	listeners, err := serving.Listen(env.Getenv, o.listen)
	if err != nil {
		return err
	}
	if err := serving.CheckOpen(listeners, keys != nil || o.public); err != nil {
		return errors.Join(err, serving.CloseAll(listeners))
	}
	shutdown, finish := context.WithCancel(context.WithoutCancel(ctx))
	defer finish()
	opening := newOpening(func() (http.Handler, error) {
		return replay.New(replay.Config{
			Handlers: handlers.Config{
				Log: log, Profile: openapi.Profile(o.profile), Strict: o.strict, Keys: keys, Listen: o.listen,
				AllowHosts: o.hosts, AllowOrigins: o.origins, MaxBody: int64(o.bounds.Body), Budget: o.bounds.Budget(),
				Stall: o.bounds.Stall, Shutdown: shutdown,
			},
			Models: o.models, OnlyModels: o.only, Recordings: recordings, Faults: rules, Pace: time.Duration(o.pace),
		})
	})
	fmt.Fprintf(env.Stderr, "listening on http://%s, without a model\n", listeners[0].Addr())
	if keys == nil {
		serving.WarnOpen(listeners, log)
	}
	service := &serving.Service{Handler: opening, Grace: replayGrace, CutOff: finish, Log: log}
	l := handlers.NewConnections(o.bounds.Connections(log)).Listen(listeners[0])
	err = service.Serve(ctx, l)
	return errors.Join(err, opening.err(), serving.CloseAll(listeners[1:]))
}

// recordings reads the user's cassettes, and in the background those of this program, which
// take longer than all else. These are about models of their own: whoever names models
// wants no others.
func (o *replayOptions) recordings() (func() *replay.Recordings, error) {
	var own []cassette.Cassette
	if o.cassettes != "" {
		var err error
		if own, err = cassette.Read(o.cassettes); err != nil {
			return nil, fmt.Errorf("--cassettes: %w", err)
		}
	}
	if len(o.models) > 0 || o.only {
		all := replay.NewRecordings(own, nil)
		return func() *replay.Recordings { return all }, nil
	}
	read := sync.OnceValue(func() *replay.Recordings {
		embedded, err := cassettes.Load()
		if err != nil {
			panic(err) // they are embedded, and tested
		}
		return replay.NewRecordings(own, embedded)
	})
	go read()
	return read, nil
}

// opening is a handler that is being made. Requests wait for it, except probes: they ask
// whether requests may be sent.
type opening struct {
	ready   chan struct{}
	handler http.Handler
	failed  error
}

func newOpening(open func() (http.Handler, error)) *opening {
	o := &opening{ready: make(chan struct{})}
	go func() { _, _ = openapi.Anthropic() }() // while the other is compiled; an error comes again below
	go func() {
		defer close(o.ready)
		o.handler, o.failed = open()
	}()
	return o
}

func (o *opening) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-o.ready:
	default:
		if r.URL.Path == "/health" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"status":"ok"}`+"\n") // fails only if the client has disconnected
			return
		}
	}
	select {
	case <-o.ready:
	case <-r.Context().Done():
		return
	}
	if o.failed != nil {
		http.Error(w, "The server could not start.", http.StatusInternalServerError)
		return
	}
	o.handler.ServeHTTP(w, r)
}

// err is why there is no handler, once that is known.
func (o *opening) err() error {
	<-o.ready
	return o.failed
}

// pace is the time between two events.
type pace time.Duration

// The slowest and the fastest pace.
const (
	slowest = time.Minute
	fastest = time.Microsecond
)

func (p *pace) String() string {
	if *p == 0 {
		return ""
	}
	return time.Duration(*p).String()
}

func (p *pace) Type() string { return "speed" }

func (p *pace) Set(value string) error {
	d, err := time.ParseDuration(value)
	if perSecond, wrong := strconv.ParseFloat(value, 64); wrong == nil && perSecond > 0 {
		d, err = time.Duration(float64(time.Second)/perSecond), nil
	}
	if err != nil || d < fastest || d > slowest {
		return fmt.Errorf("want a number of events per second such as 20, or a time between two such as 50ms, from %v to %v", fastest, slowest)
	}
	*p = pace(d)
	return nil
}
