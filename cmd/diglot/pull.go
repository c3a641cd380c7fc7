package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/places"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine/models/credentials"
	"github.com/diglot/diglot/engine/models/modelfile"
	"github.com/diglot/diglot/engine/models/registry"
	"github.com/diglot/diglot/engine/models/store"
)

func newPull(env environment) *cobra.Command {
	var o transferOptions
	c := &cobra.Command{
		Use:   "pull NAME",
		Short: "Pull a model from a registry",
		Long: `Pull a model from a registry. A name without a host is from the Ollama library; other
names start with an OCI registry, or with hf.co and have the quantization as their tag.
An interrupted pull resumes.`,
		Example: `  diglot pull qwen2.5:0.5b
  diglot pull hf.co/Qwen/Qwen2.5-0.5B-Instruct-GGUF:Q4_K_M
  diglot pull registry.example.com/team/model:v1`,
		GroupID: groupRegistry,
		Args:    arguments(1, 1, "a model name"),
	}
	o.register(c)
	asJSON := jsonFlag(c, modelFields)
	c.RunE = func(c *cobra.Command, args []string) error {
		n, err := parseName(args[0])
		if err != nil {
			return err
		}
		store, err := openStore(env)
		if err != nil {
			return err
		}
		m, err := pull(c.Context(), env, store, n, o)
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(env.stdout, toJSON(m))
		}
		return nil
	}
	return c
}

// pull pulls a model, and asks whether its remote server may be used if it has
// one.
func pull(ctx context.Context, env environment, store *store.Store, n store.Name, o transferOptions) (*store.Model, error) {
	progress := newProgress(env, o.quiet)
	m, err := openRegistry(env, o).Pull(ctx, store, n, layers(progress))
	progress.Close()
	if err != nil {
		return nil, continuable(ctx, err, "diglot pull "+n.String())
	}
	progress.Say(fmt.Sprintf("pulled %s, %s", n, terminal.Size(m.Size)))
	return m, askRemote(env, store, m)
}

// askRemote names the server of a remote model, and at a terminal asks whether
// it is allowed. A pulled model never allows its server by itself.
func askRemote(env environment, store *store.Store, m *store.Model) error {
	d, err := modelfile.Read(store, m)
	if err != nil {
		fmt.Fprintln(env.stderr, "warning: the model cannot be served:", err)
		return nil
	}
	if d.Remote == nil {
		return nil
	}
	host, err := credentials.Host(d.Remote.URL)
	if err != nil {
		return fmt.Errorf("%s is a remote model: %w", m.Name, err)
	}
	file, err := openCredentials(env)
	if err != nil {
		return err
	}
	if _, known, err := file.Lookup(host); known || err != nil {
		return err
	}
	short := credentials.Short(host)
	fmt.Fprintf(env.stderr, "%s runs on %s, which receives every message sent to it.\n", m.Name, short)
	if terminal.Is(env.stdin) && terminal.Is(env.stderr) {
		answer, err := terminal.Ask(env.stdin, env.stderr, "Allow it and enter its API key now? [y/N] ")
		if err != nil {
			return err
		}
		if answer = strings.ToLower(answer); answer == "y" || answer == "yes" {
			return login(env, file, host, loginOptions{})
		}
	}
	fmt.Fprintf(env.stderr, "Nothing is sent there until you allow it: diglot login %s\n", short)
	return nil
}

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
	if directory := env.getenv("DOCKER_CONFIG"); directory != "" {
		return filepath.Join(directory, "config.json")
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
	store.MediaTypeModel:         "model",
	store.MediaTypeProjector:     "projector",
	store.MediaTypeAdapter:       "adapter",
	store.MediaTypeDiffusion:     "diffusion model",
	store.MediaTypeDiffusionPart: "part of an image model",
	store.MediaTypeDiffusionLoRA: "LoRA",
	store.MediaTypeTemplate:      "template",
	store.MediaTypeSystem:        "system",
	store.MediaTypeParams:        "parameters",
	store.MediaTypeMessages:      "messages",
	store.MediaTypeLicense:       "license",
	store.MediaTypeConfig:        "config",
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
