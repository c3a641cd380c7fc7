package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/models/credentials"
	"github.com/diglot/diglot/engine/models/modelfile"
	"github.com/diglot/diglot/engine/models/store"
	"github.com/diglot/diglot/internal/plainjson"
)

// greet prints the base URL of each style, and a curl command to paste.
func greet(ctx context.Context, env environment, addr net.Addr, e *engines, o *serveOptions) error {
	model, err := e.firstModel(ctx, env, o)
	if err != nil {
		return err
	}
	if model == "" {
		return greetEmpty(env.stdout, addr, e.models)
	}
	quoted, err := plainjson.Marshal(model)
	if err != nil {
		return err
	}
	base := "http://" + reachable(addr)
	key, hint := "", ""
	if o.Keys.Asked(env.getenv) { // the key itself must not be logged
		key = ` -H "Authorization: Bearer $DIGLOT_API_KEY"`
		hint = "\nThe commands read the key from DIGLOT_API_KEY.\n"
		if env.getenv("DIGLOT_API_KEY") == "" {
			hint = "\nSet DIGLOT_API_KEY to one of the keys first: the commands read it.\n"
		}
	}
	curl := func(path, body string) string {
		return fmt.Sprintf("curl -sN %s%s -H 'Content-Type: application/json'%s -d '%s'",
			base, path, key, strings.ReplaceAll(body, "'", `'\''`))
	}
	if draws, err := e.Draws(ctx, model); err == nil && draws {
		_, err := fmt.Fprintf(env.stdout, "\nOpenAI style, base URL %s/v1\n  %s\n%s\n", base,
			curl("/v1/images/generations", fmt.Sprintf(`{"model":%s,"prompt":"A lighthouse at dusk."}`, quoted)), hint)
		return err
	}
	const messages = `"messages":[{"role":"user","content":"Say hello."}]`
	fmt.Fprintf(env.stdout, `
OpenAI style, base URL %[1]s/v1
  %[2]s

Anthropic style, base URL %[1]s
  %[3]s
%[4]s
`,
		base,
		curl("/v1/chat/completions", fmt.Sprintf(`{"model":%s,"max_tokens":64,%s}`, quoted, messages)),
		curl("/v1/messages", fmt.Sprintf(`{"model":%s,"max_tokens":64,"stream":true,%s}`, quoted, messages)),
		hint)
	return nil
}

// greetEmpty tells how to pull a model into an empty store. The server finds it
// without a restart.
func greetEmpty(w io.Writer, addr net.Addr, store *store.Store) error {
	base, where := "http://"+reachable(addr), ""
	if store != nil {
		where = " in " + store.Dir()
	}
	_, err := fmt.Fprintf(w, `
There are no models%[2]s yet. To pull one and try it:

  diglot pull qwen2.5:0.5b
  diglot run qwen2.5:0.5b "Say hello."

Base URL of the OpenAI style: %[1]s/v1; of the Anthropic style: %[1]s

`, base, where)
	return err
}

// The ranks of models for the greeting, best first.
const (
	rankHere  = iota // a local model that generates text
	rankThere        // a remote model on an allowed server
	rankOther        // only for embeddings, or on a server that is not allowed
)

// firstModel selects the model for the greeting: the first of --load and --model
// that generates text, or else the best of all, newest first. Empty: none.
func (e *engines) firstModel(ctx context.Context, env environment, o *serveOptions) (string, error) {
	models, err := e.all.Models(ctx)
	if err != nil || len(models) == 0 {
		return "", err
	}
	named := slices.Clone(o.load)
	for _, m := range o.models {
		named = append(named, m.Name)
	}
	for _, name := range named {
		if e.rank(ctx, env, name, o) < rankOther {
			return name, nil
		}
	}
	if o.script == "" {
		slices.SortStableFunc(models, func(a, b engine.Model) int { return b.Changed.Compare(a.Changed) })
	}
	best, least := "", rankOther+1
	for _, m := range models {
		if rank := e.rank(ctx, env, m.Name, o); rank < least {
			best, least = m.Name, rank
		}
		if least == rankHere {
			break
		}
	}
	if least == rankOther && len(named) > 0 {
		return named[0], nil
	}
	return best, nil
}

// rank ranks a model by its GGUF metadata.
func (e *engines) rank(ctx context.Context, env environment, name string, o *serveOptions) int {
	path, remote, err := e.origin(ctx, name, o)
	switch {
	case err != nil:
		return rankOther
	case remote != nil:
		if allowed(env, remote.URL) {
			return rankThere
		}
		return rankOther
	case path == "": // of a script
		for model, writes := range e.writes {
			if writes && engine.SameModel(model, name) {
				return rankHere
			}
		}
		return rankOther
	}
	head, err := gguf.Open(path)
	if err != nil {
		return rankOther
	}
	if only, _ := head.Embeds(); only {
		return rankOther
	}
	return rankHere
}

// allowed reports whether the user allows the server at url.
func allowed(env environment, url string) bool {
	host, err := credentials.Host(url)
	if err != nil {
		return false
	}
	file, err := openCredentials(env)
	if err != nil {
		return false
	}
	_, known, err := file.Lookup(host)
	return known && err == nil
}

// origin returns the file of a model or its remote server. A scripted model has
// neither.
func (e *engines) origin(ctx context.Context, name string, o *serveOptions) (path string, remote *modelfile.Remote, err error) {
	for _, m := range o.models {
		if engine.SameModel(m.Name, name) {
			return m.Path, nil, nil
		}
	}
	if scripted, err := e.isScripted(ctx, name); scripted || err != nil {
		return "", nil, err
	}
	if e.models == nil {
		return "", nil, engine.ModelNotFound(name)
	}
	n, err := store.ParseName(name)
	if err != nil {
		return "", nil, err
	}
	m, err := e.models.Model(n)
	if err != nil {
		return "", nil, err
	}
	definition, err := modelfile.Read(e.models, m)
	if err != nil {
		return "", nil, err
	}
	return definition.Model, definition.Remote, nil
}

// reachable is an address for clients of a listener, which may listen on all
// addresses.
func reachable(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
