package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/modelfile"
	"github.com/diglot/diglot/engine/modelstore"
)

// greet prints where each style is, and a command for each that works when
// it is pasted into a shell.
func greet(ctx context.Context, w io.Writer, addr net.Addr, e *engines, o *serveOptions) error {
	model, err := e.firstModel(ctx, o)
	if err != nil {
		return err
	}
	if model == "" {
		return greetEmpty(w, addr)
	}
	quoted, err := json.Marshal(model)
	if err != nil {
		return err
	}
	base := "http://" + reachable(addr)
	key, hint := "", ""
	if len(o.keys) > 0 { // a key itself belongs into no log
		key = ` -H "Authorization: Bearer $DIGLOT_API_KEY"`
		hint = "\nThe commands take the key from DIGLOT_API_KEY.\n"
	}
	curl := func(path, body string) string {
		return fmt.Sprintf("curl -sN %s%s -H 'Content-Type: application/json'%s -d '%s'",
			base, path, key, strings.ReplaceAll(body, "'", `'\''`))
	}
	const messages = `"messages":[{"role":"user","content":"Say hello."}]`
	fmt.Fprintf(w, `
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

// greetEmpty says how to get a model. A server that has none need not be
// started again for it.
func greetEmpty(w io.Writer, addr net.Addr) error {
	base := "http://" + reachable(addr)
	_, err := fmt.Fprintf(w, `
There is no model yet. This gets one, and asks it:

  diglot pull qwen2.5:0.5b
  diglot run qwen2.5:0.5b "Say hello."

Base URL of the OpenAI style: %[1]s/v1; of the Anthropic style: %[1]s

`, base)
	return err
}

// firstModel is the first model that writes text: of those that the user named
// in their order, or else of those in the store, where what came last is first.
// Where none does, it is the first of all; empty: there is none.
func (e *engines) firstModel(ctx context.Context, o *serveOptions) (string, error) {
	models, err := e.all.Models(ctx)
	if err != nil || len(models) == 0 {
		return "", err
	}
	if o.script == "" {
		slices.SortStableFunc(models, func(a, b engine.Model) int { return b.Changed.Compare(a.Changed) })
	}
	var names []string
	for _, m := range o.models {
		names = append(names, m.name)
	}
	for _, m := range models {
		names = append(names, m.Name)
	}
	for _, name := range names {
		if e.writes(ctx, name, o) {
			return name, nil
		}
	}
	return names[0], nil
}

// writes says whether a model is for text, as far as the head of its file
// tells: one that is for embeddings alone is not.
func (e *engines) writes(ctx context.Context, name string, o *serveOptions) bool {
	path, err := e.file(ctx, name, o)
	if err != nil {
		return false
	}
	if path == "" {
		return true
	}
	head, err := gguf.Open(path)
	if err != nil {
		return false
	}
	only, _ := head.Embeds()
	return !only
}

// file is the file of a model; empty: it has none, as it is scripted or served
// elsewhere.
func (e *engines) file(ctx context.Context, name string, o *serveOptions) (string, error) {
	for _, m := range o.models {
		if m.name == name {
			return m.path, nil
		}
	}
	if named, err := e.isNamed(ctx, name); named || err != nil {
		return "", err
	}
	n, err := modelstore.ParseName(name)
	if err != nil {
		return "", err
	}
	m, err := e.models.Model(n)
	if err != nil {
		return "", err
	}
	definition, err := modelfile.Read(e.models, m)
	if err != nil {
		return "", err
	}
	return definition.Model, nil
}

// reachable is the address to ask for what listens on addr: where that is
// all of the machine's addresses, its own.
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
