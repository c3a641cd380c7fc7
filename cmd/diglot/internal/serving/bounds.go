package serving

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/handlers"
)

const (
	// mostConnections is the default, if the open file limit allows it.
	mostConnections = 4096

	// mostOfAll is above any sensible number.
	mostOfAll = 1 << 20

	// keptDescriptors are reserved for everything but client connections and their
	// connections to models: files, processes, listeners and the control socket.
	keptDescriptors = 96

	// leastConnections is the minimum, even if descriptors may run out.
	leastConnections = 16
)

// Bounds are the flags that limit all clients together.
type Bounds struct {
	Body, Bodies   flagvalue.Memory // bytes; 0: the defaults of handlers
	Requests       flagvalue.Number
	MaxConnections flagvalue.Number // 0: what the descriptors allow
	PerAddress     flagvalue.Number // 0: half of the connections
	Stall          time.Duration
}

// Register adds the flags to those of a command.
func (o *Bounds) Register(set *pflag.FlagSet) {
	set.Var(&o.Body, "max-body", "limit a request body to `SIZE`, such as 16MB (default 64MiB)")
	set.Var(&o.Bodies, "max-bodies", "limit the memory of all request bodies in flight to `SIZE`, counting 4 bytes per byte received (default 512MiB)")
	set.Var(flagvalue.Within{To: &o.Requests, Least: 1, Most: mostOfAll}, "max-requests", "limit requests to models, running and queued, to `N` (default 1024)")
	set.Var(flagvalue.Within{To: &o.MaxConnections, Least: 1, Most: mostOfAll}, "max-connections", "limit client connections to `N` (default 4096, or what the open file limit allows)")
	set.Var(flagvalue.Within{To: &o.PerAddress, Least: 1, Most: mostOfAll}, "max-connections-per-address", "limit connections from one remote address to `N`; clients behind a proxy share its address (default half of --max-connections)")
	o.Stall = handlers.DefaultStall
	set.Var(flagvalue.Span{To: &o.Stall, Least: time.Second, Most: time.Hour}, "stall-timeout", "disconnect a client that for `TIME` neither sends its request body nor reads its reply")
}

// least is the memory that the largest body may need.
func (o *Bounds) least() int64 {
	return handlers.MinBodies(cmp.Or(int64(o.Body), handlers.DefaultMaxBody))
}

// Check fails for bounds that would admit no request.
func (o *Bounds) Check(command string) error {
	if least := o.least(); o.Bodies != 0 && int64(o.Bodies) < least {
		return exit.Usage("%s: --max-bodies is too small for one body of --max-body, which may need %d bytes", command, least)
	}
	return nil
}

// Budget is the budget of all requests.
func (o *Bounds) Budget() *handlers.Budget {
	return handlers.NewBudget(
		cmp.Or(int64(o.Bodies), max(handlers.DefaultMaxBodies, o.least())),
		cmp.Or(int(o.Requests), handlers.DefaultMaxRequests))
}

// Connections are the connection limits of this process.
func (o *Bounds) Connections(log *slog.Logger) handlers.ConnectionLimits {
	return o.limit(descriptors(), log)
}

// limit returns the connection limits for a number of file descriptors. Each client
// may need a second descriptor, for the connection to its model.
func (o *Bounds) limit(descriptors uint64, log *slog.Logger) handlers.ConnectionLimits {
	allowed := leastConnections
	if descriptors > keptDescriptors {
		allowed = int(min(max(leastConnections, (descriptors-keptDescriptors)/2), mostOfAll))
	}
	all := cmp.Or(int(o.MaxConnections), min(mostConnections, allowed))
	if all > allowed {
		log.Warn("--max-connections is above what the open file limit allows; raise it with ulimit -n", "connections", allowed)
		all = allowed
	}
	return handlers.ConnectionLimits{All: all, PerAddress: cmp.Or(int(o.PerAddress), max(1, all/2))}
}
