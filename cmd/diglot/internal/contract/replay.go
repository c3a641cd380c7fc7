package contract

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/diglot/diglot/cassettes"
	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/cmd/diglot/internal/replay"
	"github.com/diglot/diglot/cmd/diglot/internal/replay/fault"
	"github.com/diglot/diglot/cmd/diglot/internal/serving"
	reference "github.com/diglot/diglot/gen/site"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/internal/cassette"
	"github.com/diglot/diglot/openapi"
)

//go:embed replay.md
var replayHelp string

// replayOptions are the flags of replay.
type replayOptions struct {
	serving.Options
	pace      flagvalue.Pace
	cassettes string
	faults    string
	models    flagvalue.List
	only      bool
	open      func(replay.Config) (http.Handler, error)
}

// newReplay is the command that serves without a model.
func newReplay(env Environment) *cobra.Command {
	o := replayOptions{open: replay.New}
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
			if err := o.Check(c.Name()); err != nil {
				return err
			}
			return o.serve(c.Context(), env)
		},
	}
	o.register(c.Flags())
	return c
}

func (o *replayOptions) register(flags *pflag.FlagSet) {
	o.Options.Register(flags)
	flags.Var(&o.pace, "pace", "send the events of streams at `SPEED`: a number per second, or the time between two, such as 50ms (default at once)")
	flags.Var(flagvalue.Path{To: &o.cassettes}, "cassettes", "answer with the recorded exchanges of `FOLDER` first")
	flags.Var(flagvalue.Path{To: &o.faults}, "faults", "fail the requests that the rules in `FILE` name")
	flags.Var(&o.models, "model", "list model `NAME`; repeatable (default mock)")
	flags.BoolVar(&o.only, "only-models", false, "serve the listed models only: other names are a 404")
}

// replayGrace is how long running requests may go on after a signal.
const replayGrace = 2 * time.Second

// serve serves until ctx ends. The socket is open before the documents are compiled:
// requests that come earlier wait.
func (o *replayOptions) serve(ctx context.Context, env Environment) error {
	log := slog.New(slog.NewTextHandler(env.Stderr, nil))
	keys, err := o.Keys.Open(ctx, "replay", env.Getenv, log)
	if err != nil {
		return err
	}
	shutdown, finish := context.WithCancel(context.WithoutCancel(ctx))
	defer finish()
	config, err := o.config(keys, log)
	if err != nil {
		return err
	}
	config.Handlers.Shutdown = shutdown
	listeners, err := o.Open("replay", env.Getenv, keys)
	if err != nil {
		return err
	}
	opening := newOpening(func() (http.Handler, error) { return o.open(config) })
	services := serving.Services{}
	services.Add(listeners, o.Bounds.Connections(log), &serving.Service{Handler: opening, Grace: replayGrace, CutOff: finish, Log: log})
	fmt.Fprintf(env.Stderr, "listening on http://%s, without a model\n", listeners[0].Addr())
	if keys == nil {
		serving.WarnOpen(listeners, log)
	}
	return services.Serve(ctx, func(context.Context) error { return opening.err() })
}

// config is the configuration of the server.
func (o *replayOptions) config(keys *handlers.Keys, log *slog.Logger) (replay.Config, error) {
	c := replay.Config{Handlers: o.Config(keys, log), Models: o.models, OnlyModels: o.only, Pace: time.Duration(o.pace)}
	c.Handlers.Docs = reference.Files
	var err error
	if o.faults != "" {
		if c.Faults, err = fault.Open(o.faults); err != nil {
			return c, fmt.Errorf("--faults: %w", err)
		}
	}
	c.Recordings, err = o.recordings()
	return c, err
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
