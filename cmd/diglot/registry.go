package main

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/places"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine/models/registry"
	"github.com/diglot/diglot/engine/models/store"
)

// transferOptions are the flags of pull and push.
type transferOptions struct {
	quiet, plainHTTP bool
}

func (o *transferOptions) register(c *cobra.Command) {
	c.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "hide progress")
	c.Flags().BoolVar(&o.plainHTTP, "plain-http", false, "allow plain HTTP for a registry without TLS; anyone on the network can then alter the model")
}

// openRegistry makes a registry client with the environment's proxy and
// Docker's logins.
func openRegistry(env environment, o transferOptions) *registry.Client {
	return registry.New(registry.Config{
		Log:          warnings(env),
		Transport:    registry.NewTransport(http.ProxyFromEnvironment),
		DockerConfig: dockerConfig(env),
		PlainHTTP:    func(string) bool { return o.plainHTTP },
	})
}

// dockerConfig is Docker's configuration file, which has its registry logins.
func dockerConfig(env environment) string {
	if folder := env.getenv("DOCKER_CONFIG"); folder != "" {
		return filepath.Join(folder, "config.json")
	}
	if home := places.Home(env.getenv); home != "" {
		return filepath.Join(home, ".docker", "config.json")
	}
	return ""
}

// newProgress shows progress on standard error.
func newProgress(env environment, quiet bool) terminal.Progress {
	if quiet {
		return terminal.Silent()
	}
	return terminal.NewProgress(env.stderr)
}

// layers shows the progress of layers. A layer is complete only after its
// digest has been checked, so its last byte is held back until then.
func layers(p terminal.Progress) func(registry.Progress) {
	return func(l registry.Progress) {
		if l.Status != registry.StatusDone && l.Status != registry.StatusPresent {
			l.Done = min(l.Done, max(l.Total-1, 0))
		}
		p.Update(terminal.Step{
			Key:   l.Layer.String(),
			Label: layerLabel(store.Layer{MediaType: l.MediaType, Digest: l.Layer}),
			Done:  l.Done,
			Total: l.Total,
		})
	}
}

// kinds name layers by media type.
var kinds = map[string]string{
	store.MediaTypeModel:     "model",
	store.MediaTypeProjector: "projector",
	store.MediaTypeAdapter:   "adapter",
	store.MediaTypeTemplate:  "template",
	store.MediaTypeSystem:    "system",
	store.MediaTypeParams:    "parameters",
	store.MediaTypeMessages:  "messages",
	store.MediaTypeLicense:   "license",
	store.MediaTypeConfig:    "config",
}

func layerLabel(l store.Layer) string {
	kind, ok := kinds[l.MediaType]
	if !ok {
		kind = "layer"
	}
	digest := l.Digest.Encoded()
	return kind + " " + digest[:min(12, len(digest))]
}

// interruptedError is the message of a transfer that Ctrl-C ended.
type interruptedError struct{ text string }

func (e *interruptedError) Error() string { return e.text }
func (e *interruptedError) Unwrap() error { return context.Canceled }

// continuable turns the error of an interrupted transfer into a hint how to
// resume it.
func continuable(ctx context.Context, err error, command string) error {
	if err == nil || !errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	return &interruptedError{"interrupted; \"" + command + "\" resumes it"}
}
