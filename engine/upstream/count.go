package upstream

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/internal/plainjson"
)

// Count implements [engine.Engine]. The style has no operation for it, so it
// is up to what the server has beyond the style; where it has nothing, the
// error says so. Generating a token to have the prompt counted would cost what
// the prompt costs.
func (e *Engine) Count(ctx context.Context, req *engine.Request) (int, error) {
	n, err := e.count(ctx, req)
	if err != nil {
		return 0, engine.AsError(err)
	}
	return n, nil
}

// counter is one way to have a prompt counted. name is for [quirks].
type counter struct {
	name  string
	count func(context.Context, *engine.Request) (int, error)
}

func (e *Engine) count(ctx context.Context, req *engine.Request) (int, error) {
	if err := e.check(req.Model); err != nil {
		return 0, err
	}
	for _, c := range e.counters(req) {
		if !e.quirks.takes(c.name) {
			continue
		}
		n, err := c.count(ctx, req)
		if err == nil {
			return n, nil
		}
		if engine.AsError(err).Code != engine.CodeUnsupported {
			return 0, err
		}
		if absent(err) {
			e.quirks.learn(c.name)
		}
	}
	return 0, engine.Errorf(engine.CodeUnsupported, "The server of the model %q offers no way to count tokens.", e.config.Model)
}

// absent reports whether a way failed because the server does not have it, rather
// than because of this request.
func absent(err error) bool {
	var r refusal
	if errors.As(err, &r) {
		return r.status == 404 || r.status == 405 || r.status == 501
	}
	return errors.Is(err, errNoCount)
}

// counters are the ways that there are for a request. Only the first one
// counts pictures.
func (e *Engine) counters(req *engine.Request) []counter {
	if req.Prompt != nil {
		if req.Prompt.Suffix != "" {
			return nil
		}
		return []counter{{"tokenize", e.countText}}
	}
	all := []counter{
		{"input_tokens", e.countInput},
		{"tokenize messages", e.countMessages},
		{"apply-template", e.countTemplate},
	}
	for _, m := range req.Messages {
		if engine.CountImages(m.Parts) > 0 {
			return all[:1]
		}
	}
	return all
}

// countInput asks newer versions of llama-server.
func (e *Engine) countInput(ctx context.Context, req *engine.Request) (int, error) {
	var told struct {
		Tokens *int `json:"input_tokens"`
	}
	if err := e.fetch(ctx, e.base.JoinPath("chat/completions/input_tokens"), e.conversation(req, nil), &told); err != nil {
		return 0, err
	}
	return countOf(told.Tokens)
}

// countMessages asks vLLM.
func (e *Engine) countMessages(ctx context.Context, req *engine.Request) (int, error) {
	var told struct {
		Count *int `json:"count"`
	}
	build := e.conversation(req, map[string]any{"add_generation_prompt": true})
	if err := e.fetch(ctx, e.root("tokenize"), build, &told); err != nil {
		return 0, err
	}
	return countOf(told.Count)
}

// countTemplate asks older versions of llama-server for the prompt, and then
// for its tokens.
func (e *Engine) countTemplate(ctx context.Context, req *engine.Request) (int, error) {
	var told struct {
		Prompt *string `json:"prompt"`
	}
	if err := e.fetch(ctx, e.root("apply-template"), e.conversation(req, nil), &told); err != nil {
		return 0, err
	}
	if told.Prompt == nil {
		return countOf(nil)
	}
	raw := *req
	raw.Prompt = &engine.Prompt{Text: *told.Prompt}
	return e.countText(ctx, &raw)
}

// countText asks llama-server, vLLM or SGLang for the tokens of a raw text,
// under the names that they have for it.
func (e *Engine) countText(ctx context.Context, req *engine.Request) (int, error) {
	var told struct {
		Count  *int    `json:"count"`
		Tokens *length `json:"tokens"`
	}
	build := func(*lesson) (*body, error) {
		text, err := plainjson.Marshal(map[string]any{
			"model": e.config.Model, "prompt": req.Prompt.Text, "add_special_tokens": true,
			"content": req.Prompt.Text, "add_special": true, "parse_special": true,
		})
		return &body{bytes: text}, err
	}
	if err := e.fetch(ctx, e.root("tokenize"), build, &told); err != nil {
		return 0, err
	}
	if told.Count == nil && told.Tokens != nil {
		return int(*told.Tokens), nil
	}
	return countOf(told.Count)
}

var errNoCount = engine.Errorf(engine.CodeUnsupported, "The server of the model does not count tokens.")

func countOf(n *int) (int, error) {
	if n == nil || *n < 0 {
		return 0, errNoCount
	}
	return *n, nil
}

// conversation builds the body of a chat completion, and more beside it.
func (e *Engine) conversation(req *engine.Request, more map[string]any) func(*lesson) (*body, error) {
	return func(l *lesson) (*body, error) {
		m := newMembers(l)
		maps.Copy(m.values, more)
		return e.fromRequest(req, m)
	}
}

// root is a path beside the one of the style, where servers have what is
// their own.
func (e *Engine) root(path string) *url.URL {
	out := *e.base
	out.Path = strings.TrimSuffix(out.Path, "/v1")
	return out.JoinPath(path)
}

// fetch asks for something that is not of the style. A server that does not
// have it, or does not want it in this form, gives [engine.CodeUnsupported].
func (e *Engine) fetch(ctx context.Context, at *url.URL, build func(*lesson) (*body, error), out any) error {
	op := operation{name: "a way to count tokens", build: build, foreign: true, each: numberWeight}
	op.send = func(ctx context.Context, in io.Reader, dress wire.RequestEditorFn) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), in)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", jsonType)
		if err := dress(ctx, r); err != nil {
			return nil, err
		}
		return e.client.Client.Do(r)
	}
	r, err := e.ask(ctx, op)
	if err != nil {
		return err
	}
	defer r.close()
	if !r.whole() {
		return errNoCount // some page
	}
	return r.decode(out)
}
