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
	address  serving.Address
	scrub    flagvalue.Patterns
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
	o.address.Register(flags, "127.0.0.1:8485", "let other machines use the proxy")
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
	return target, o.address.Check("record")
}

// record records until ctx ends.
func (o *recordOptions) record(ctx context.Context, target *url.URL, env Environment) error {
	log := slog.New(slog.NewTextHandler(env.Stderr, nil))
	scrub := cassette.DefaultScrub()
	scrub.Request, scrub.Response = append(scrub.Request, o.keep...), append(scrub.Response, o.keep...)
	scrub.Bodies = o.scrub
	listeners, err := o.address.Open("record", env.Getenv)
	if err != nil {
		return err
	}
	proxy := recorder.New(recorder.Config{Upstream: target, Folder: o.folder, Case: recorder.Named, Scrub: scrub, Log: log})
	services := serving.Services{}
	services.Add(listeners, handlers.ConnectionLimits{All: recordConnections, PerAddress: recordConnections},
		&serving.Service{Handler: o.local(proxy), Grace: recordGrace, CutOff: func() {}, Log: log})
	fmt.Fprintf(env.Stderr, "listening on http://%s\n", listeners[0].Addr())
	err = services.Serve(ctx, func(context.Context) error { return nil })
	return errors.Join(err, proxy.Close())
}

// local refuses web pages. One of another host would have this machine's address under its
// own name (DNS rebinding), or send a form here: the server behind the proxy cannot see
// either any more, and the page would replace a recording. Pages of this machine may record.
func (o *recordOptions) local(next http.Handler) http.Handler {
	own, _, _ := net.SplitHostPort(o.address.Listen)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := hostname.WithoutPort(r.Host)
		if _, err := netip.ParseAddr(name); err != nil && name != "" && name != own && !hostname.Loopback(name) {
			http.Error(w, "The host name is not allowed: use the address of the recording proxy.", http.StatusForbidden)
			return
		}
		if isForeign(r) {
			http.Error(w, "A web page of another machine may not use the recording proxy.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isForeign reports whether a page of another machine sent a request. Where a browser names
// no origin, as for an image or a link, it says how far away the page is.
func isForeign(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return r.Header.Get("Sec-Fetch-Site") == "cross-site"
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) && !hostname.Loopback(u.Host)
}
