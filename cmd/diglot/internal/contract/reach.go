package contract

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// loading is how long a server may take to load a model.
const loading = 10 * time.Minute

// patience is how long nothing need be said.
const patience = 5 * time.Second

// reach finds what would make every scenario fail: no server, a wrong key, no such model.
// The list of models comes within the time for a request; then each model gets a first
// request, with the time to load it.
func reach(ctx context.Context, stderr io.Writer, target *conformance.Target, styles []conformance.Style) error {
	list := conformance.Request{Path: "/v1/models"}
	ask := dialect.Chat()
	if !slices.Contains(styles, conformance.OpenAI) {
		ask, list.Header = dialect.Messages(), http.Header{"Anthropic-Version": {"2023-06-01"}}
	}
	defer sayWaiting(stderr)()
	x, err := within(ctx, target.Timeout, target, list)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return exit.Unreachable("verify: no server answers at %s: %w", redacted(target.BaseURL), err)
	case x.Status == http.StatusUnauthorized, x.Status == http.StatusForbidden:
		return exit.Failed("verify: the server answers %s with %d %s; see --api-key-env and --header", list.Path, x.Status, http.StatusText(x.Status))
	}
	for name, request := range map[string]conformance.Request{
		target.Models.Text:      ask.Encode(dialect.Greedy(target.Models.Text, "Hi", 1)),
		target.Models.Embedding: {Path: "/v1/embeddings", Body: map[string]any{"model": target.Models.Embedding, "input": "Hi"}},
	} {
		if name == "" {
			continue
		}
		first, err := within(ctx, loading, target, request)
		if err == nil && first.Status == http.StatusNotFound && unlisted(x, name) {
			return exit.Missing("verify: the server has no model %q; see %s of %s", name, list.Path, redacted(target.BaseURL))
		}
	}
	return ctx.Err()
}

// sayWaiting says, after a while, what it is that takes so long. The function that it returns
// ends that; once it has returned, nothing more is written.
func sayWaiting(stderr io.Writer) (stop func()) {
	said := make(chan struct{})
	slow := time.AfterFunc(patience, func() {
		defer close(said)
		fmt.Fprintln(stderr, "waiting for the server")
	})
	return func() {
		if !slow.Stop() {
			<-said
		}
	}
}

// within sends a request that may take so long.
func within(ctx context.Context, most time.Duration, target *conformance.Target, r conformance.Request) (*conformance.Exchange, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return target.Send(ctx, r)
}

// unlisted reports whether a server lists models, but not this one.
func unlisted(list *conformance.Exchange, name string) bool {
	var models struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if list.Status != http.StatusOK || list.JSON(&models) != nil {
		return false
	}
	for _, m := range models.Data {
		if m.ID == name {
			return false
		}
	}
	return true
}
