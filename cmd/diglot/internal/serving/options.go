package serving

import (
	"log/slog"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/internal/hostname"
	"github.com/diglot/diglot/openapi"
)

// Options are the flags of a command that serves both APIs.
type Options struct {
	Address
	Profile string
	Strict  bool
	Keys    Keys
	Bounds  Bounds
	Origins flagvalue.List
	Hosts   flagvalue.List
}

// Register adds the flags to those of a command.
func (o *Options) Register(flags *pflag.FlagSet) {
	o.Address.Register(flags, "127.0.0.1:8484", "serve other machines without API keys")
	flags.StringVar(&o.Profile, "profile", string(openapi.ProfileDefault), "API `PROFILE`: default for what clients need, or document for the letter of the interface document")
	flags.BoolVar(&o.Strict, "strict", false, "refuse requests with fields that would be ignored")
	flags.Var(flagvalue.Path{To: &o.Keys.File}, "api-key-file", "require an API key from `FILE`, which has one NAME: KEY per line; reloaded when it changes")
	flags.Var(&o.Keys.Fixed, "api-key", "require API key `KEY`; every user of this machine can see it in the process list; also DIGLOT_API_KEY; repeatable (default any key)")
	o.Bounds.Register(flags)
	flags.Var(&o.Origins, "allow-origin", "allow browser pages from `ORIGIN` (SCHEME://HOST[:PORT], or * for all) besides those on this machine; repeatable")
	flags.Var(&o.Hosts, "allow-host", "accept `NAME` in the Host header besides local names; repeatable")
}

// Check finds what cannot be meant: an origin or a host that no browser sends would be a
// flag without effect.
func (o *Options) Check(command string) error {
	if o.Profile != string(openapi.ProfileDefault) && o.Profile != string(openapi.ProfileDocument) {
		return exit.Usage("%s: --profile is %q, not %s or %s", command, o.Profile, openapi.ProfileDefault, openapi.ProfileDocument)
	}
	if err := o.Address.Check(command); err != nil {
		return err
	}
	for _, origin := range o.Origins {
		if !isOrigin(origin) {
			return exit.Usage("%s: --allow-origin is %q, not SCHEME://HOST[:PORT] or *", command, origin)
		}
	}
	for _, host := range o.Hosts {
		if !hostname.Is(host) || strings.Contains(host, ":") {
			return exit.Usage("%s: --allow-host is %q, not a name without scheme and port", command, host)
		}
	}
	return o.Bounds.Check(command)
}

// Config is what the flags say of the handlers. Nil keys: none are required.
func (o *Options) Config(keys *handlers.Keys, log *slog.Logger) handlers.Config {
	return handlers.Config{
		Log:          log,
		Profile:      openapi.Profile(o.Profile),
		Strict:       o.Strict,
		Keys:         keys,
		Listen:       o.Listen,
		AllowHosts:   o.Hosts,
		AllowOrigins: o.Origins,

		MaxBody: int64(o.Bounds.Body),
		Budget:  o.Bounds.Budget(),
		Stall:   o.Bounds.Stall,
	}
}

// Open opens the sockets of a command. Other machines reach them only with a key, unless the
// user allows it.
func (o *Options) Open(command string, getenv func(string) string, keys *handlers.Keys) ([]net.Listener, error) {
	return o.open(command, getenv, keys != nil, "and no key is asked for; name a file of keys with --api-key-file, or set DIGLOT_API_KEY; ")
}

// Address is the flags that say where a command listens, and for whom.
type Address struct {
	Listen string // HOST:PORT
	Public bool   // other machines may use it without a key
}

// Register adds the flags to those of a command. public says what --insecure-public does.
func (a *Address) Register(flags *pflag.FlagSet, listen, public string) {
	flags.StringVar(&a.Listen, "listen", listen, "listen on `HOST:PORT`")
	flags.BoolVar(&a.Public, "insecure-public", false, public)
}

// Check finds an address that cannot be meant.
func (a *Address) Check(command string) error {
	if host, _, err := net.SplitHostPort(a.Listen); err != nil || host != "" && !hostname.Is(host) && !isAddress(host) {
		return exit.Usage("%s: --listen is %q, not HOST:PORT", command, a.Listen)
	}
	return nil
}

// Open opens the sockets of a command that asks for no keys.
func (a *Address) Open(command string, getenv func(string) string) ([]net.Listener, error) {
	return a.open(command, getenv, false, "")
}

// open opens the sockets, which must be for this machine alone, unless clients are known or
// the user allows others. advice is what else can be done.
func (a *Address) open(command string, getenv func(string) string, known bool, advice string) ([]net.Listener, error) {
	listeners, err := Listen(getenv, a.Listen)
	if err != nil || known || a.Public {
		return listeners, err
	}
	for _, l := range listeners {
		if isOpen(l) {
			CloseAll(listeners)
			return nil, exit.Usage("%s: other machines can reach %s, %slisten on 127.0.0.1 for this machine alone; or let everyone in with --insecure-public",
				command, l.Addr(), advice)
		}
	}
	return listeners, nil
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
