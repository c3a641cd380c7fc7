package contract

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/cmd/diglot/internal/serving"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/internal/cassette"
	"github.com/diglot/diglot/internal/cassette/recorder"
	"github.com/diglot/diglot/internal/hostname"
)

const recordHelp = `Record what a server answers, whatever the client: a proxy that forwards each request to
--upstream and writes request and reply below --cassettes, one YAML file for each case,
in the format of go-vcr v3. "diglot replay --cassettes" answers from these files, and
"diglot diff" compares two recordings.

Give your client the address of the proxy as its base URL. A case is named by the client:

  Diglot-Case: NAME                      a header, which is not forwarded
  http://127.0.0.1:8485/record/NAME/v1   a base URL, where a client can set nothing else

NAME is a path such as chat/stream. A case that is recorded again in another run
replaces the older file. A request without a name gets a file of its own, named by its
path and a number.

Recordings have no keys, cookies and other headers that are about a person or a machine:
only a few headers are kept, more with --keep-header. Secrets in a query, and credentials
that a body repeats, are replaced by "scrubbed", and so is what --scrub matches in a body.
Ids are replaced by numbers and times by zero. Read a recording before you publish it.

A reply that the server breaks off is recorded as such. One that the client did not wait
for is not recorded, nor is a body above 8 MiB. All bodies of one run may have 256 MiB.`

const (
	// recordGrace is how long running requests may go on after a signal.
	recordGrace = 10 * time.Second

	// recordConnections limits the clients of the proxy.
	recordConnections = 256
)

// recordOptions are the flags of record.
type recordOptions struct {
	upstream string
	folder   string
	listen   string
	public   bool
	scrub    patterns
	keep     flagvalue.List
}

func newRecord(env Environment) *cobra.Command {
	var o recordOptions
	c := &cobra.Command{
		Use:   "record --upstream URL --cassettes FOLDER",
		Short: "Record any server through a proxy",
		Long:  recordHelp,
		Example: `  diglot record --upstream http://127.0.0.1:8080 --cassettes recorded
  diglot record --upstream https://api.example.com --cassettes recorded --scrub 'user-[0-9]+'
  curl http://127.0.0.1:8485/v1/models -H 'Diglot-Case: models/list'`,
		GroupID: Group,
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			target, err := o.check()
			if err != nil {
				return err
			}
			return o.record(c.Context(), target, env)
		},
	}
	o.register(c.Flags())
	return c
}

func (o *recordOptions) register(flags *pflag.FlagSet) {
	flags.StringVar(&o.upstream, "upstream", "", "record the server at `URL`")
	flags.Var(flagvalue.Path{To: &o.folder}, "cassettes", "write cassettes to `FOLDER`")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8485", "listen on `HOST:PORT`")
	flags.BoolVar(&o.public, "insecure-public", false, "let other machines use the proxy")
	flags.Var(&o.scrub, "scrub", "replace what matches `REGEXP` in bodies; repeatable")
	flags.Var(&o.keep, "keep-header", "record the header `NAME` too, of requests and replies; repeatable")
}

// check returns the URL of the server, without the /v1 that is in the paths of requests.
func (o *recordOptions) check() (*url.URL, error) {
	if o.upstream == "" || o.folder == "" {
		return nil, exit.Usage("record: --upstream and --cassettes are required")
	}
	target, err := url.Parse(o.upstream)
	if err != nil || target.Scheme != "http" && target.Scheme != "https" || !hostname.InURL(target) || target.RawQuery != "" || target.User != nil {
		return nil, exit.Usage("record: --upstream is %q, not a URL such as http://127.0.0.1:8080", o.upstream)
	}
	target.Path = strings.TrimSuffix(strings.TrimSuffix(target.Path, "/"), "/v1")
	return target, nil
}

// record records until ctx ends.
func (o *recordOptions) record(ctx context.Context, target *url.URL, env Environment) error {
	log := slog.New(slog.NewTextHandler(env.Stderr, nil))
	scrub := cassette.DefaultScrub()
	scrub.Request, scrub.Response = append(scrub.Request, o.keep...), append(scrub.Response, o.keep...)
	scrub.Bodies = o.scrub
	proxy := recorder.New(recorder.Config{Upstream: target, Folder: o.folder, Case: recorder.Named, Scrub: scrub, Log: log})
	listeners, err := serving.Listen(env.Getenv, o.listen)
	if err != nil {
		return err
	}
	l := listeners[0]
	if !hostname.Loopback(l.Addr().String()) && !o.public {
		return errors.Join(exit.Usage("record: other machines can reach %s; listen on 127.0.0.1, or let everyone in with --insecure-public", l.Addr()),
			serving.CloseAll(listeners))
	}
	fmt.Fprintf(env.Stderr, "listening on http://%s\n", l.Addr())
	service := serving.Service{Handler: o.local(proxy), Grace: recordGrace, CutOff: func() {}, Log: log}
	err = service.Serve(ctx, handlers.NewConnections(handlers.ConnectionLimits{All: recordConnections, PerAddress: recordConnections}).Listen(l))
	return errors.Join(err, proxy.Close())
}

// local refuses a name of another host, which a web page can give this machine's address
// (DNS rebinding): the server behind the proxy cannot see it any more.
func (o *recordOptions) local(next http.Handler) http.Handler {
	own, _, _ := net.SplitHostPort(o.listen)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := hostname.WithoutPort(r.Host)
		if _, err := netip.ParseAddr(name); err != nil && name != "" && name != own && !hostname.Loopback(name) {
			http.Error(w, "The host name is not allowed: use the address of the recording proxy.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
