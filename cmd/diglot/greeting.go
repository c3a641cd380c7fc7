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
)

// greet prints where each style is, and a command for each that works when
// it is pasted into a shell.
func greet(ctx context.Context, w io.Writer, addr net.Addr, e engine.Engine, o *serveOptions) error {
	model, err := firstModel(ctx, e, o)
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

// firstModel is the model that the user named first, or else the one that came
// last to the store; empty: there is none.
func firstModel(ctx context.Context, e engine.Engine, o *serveOptions) (string, error) {
	if len(o.models) > 0 {
		return o.models[0].name, nil
	}
	models, err := e.Models(ctx)
	if err != nil || len(models) == 0 {
		return "", err
	}
	if o.script == "" {
		return slices.MaxFunc(models, func(a, b engine.Model) int { return a.Changed.Compare(b.Changed) }).Name, nil
	}
	return models[0].Name, nil
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
