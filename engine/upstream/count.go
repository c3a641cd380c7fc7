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
// needs an extension of the server. Without one it fails: generating a token to
// get the count would cost a whole prefill.
func (e *Engine) Count(ctx context.Context, req *engine.Request) (int, error) {
	n, err := e.count(ctx, req)
	if err != nil {
		return 0, engine.AsError(err)
	}
	return n, nil
}

// counter is one way to count prompt tokens. name is the key in [quirks].
type counter struct {
	name  string
	count func(context.Context, *engine.Request) (int, error)
}

func (e *Engine) count(ctx context.Context, req *engine.Request) (int, error) {
	if err := e.check(req.Model); err != nil {
		return 0, err
	}
	for _, c := range e.counters(req) {
		if !e.quirks.supports(c.name) {
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
			e.quirks.markUnsupported(c.name)
		}
	}
	return 0, engine.Errorf(engine.CodeUnsupported, "The server of the model %q cannot count tokens.", e.config.Model)
}

// absent reports whether the server lacks the operation, rather than refused
// this request.
func absent(err error) bool {
	var r refusal
	if errors.As(err, &r) {
		return r.status == 404 || r.status == 405 || r.status == 501
	}
	return errors.Is(err, errNoCount)
}

// counters returns the ways to count a request. Only the first one counts images.
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

// countInput uses the operation of newer llama-servers.
func (e *Engine) countInput(ctx context.Context, req *engine.Request) (int, error) {
	var reply struct {
		Tokens *int `json:"input_tokens"`
	}
	if err := e.fetch(ctx, e.base.JoinPath("chat/completions/input_tokens"), e.conversation(req, nil), &reply); err != nil {
		return 0, err
	}
	return countOf(reply.Tokens)
}

// countMessages uses vLLM's operation.
func (e *Engine) countMessages(ctx context.Context, req *engine.Request) (int, error) {
	var reply struct {
		Count *int `json:"count"`
	}
	build := e.conversation(req, map[string]any{"add_generation_prompt": true})
	if err := e.fetch(ctx, e.root("tokenize"), build, &reply); err != nil {
		return 0, err
	}
	return countOf(reply.Count)
}

// countTemplate has older llama-servers render the prompt, then tokenize it.
func (e *Engine) countTemplate(ctx context.Context, req *engine.Request) (int, error) {
	var reply struct {
		Prompt *string `json:"prompt"`
	}
	if err := e.fetch(ctx, e.root("apply-template"), e.conversation(req, nil), &reply); err != nil {
		return 0, err
	}
	if reply.Prompt == nil {
		return countOf(nil)
	}
	raw := *req
	raw.Prompt = &engine.Prompt{Text: *reply.Prompt}
	return e.countText(ctx, &raw)
}

// countText has llama-server, vLLM or SGLang tokenize a raw prompt. The body has
// the field names of all three.
func (e *Engine) countText(ctx context.Context, req *engine.Request) (int, error) {
	var reply struct {
		Count  *int    `json:"count"`
		Tokens *length `json:"tokens"`
	}
	build := func(*fallback) (*body, error) {
		text, err := plainjson.Marshal(map[string]any{
			"model": e.config.Model, "prompt": req.Prompt.Text, "add_special_tokens": true,
			"content": req.Prompt.Text, "add_special": true, "parse_special": true,
		})
		return &body{bytes: text}, err
	}
	if err := e.fetch(ctx, e.root("tokenize"), build, &reply); err != nil {
		return 0, err
	}
	if reply.Count == nil && reply.Tokens != nil {
		return int(*reply.Tokens), nil
	}
	return countOf(reply.Count)
}

var errNoCount = engine.Errorf(engine.CodeUnsupported, "The model's server does not count tokens.")

func countOf(n *int) (int, error) {
	if n == nil || *n < 0 {
		return 0, errNoCount
	}
	return *n, nil
}

// conversation builds the body of a chat completion with extra fields.
func (e *Engine) conversation(req *engine.Request, extra map[string]any) func(*fallback) (*body, error) {
	return func(l *fallback) (*body, error) {
		m := newOptionalFields(l)
		maps.Copy(m.values, extra)
		return e.fromRequest(req, m)
	}
}

// root returns the URL of a path outside /v1, where servers have their own
// operations.
func (e *Engine) root(path string) *url.URL {
	out := *e.base
	out.Path = strings.TrimSuffix(out.Path, "/v1")
	return out.JoinPath(path)
}

// fetch calls an operation outside the style. A server that lacks it, or rejects
// the request, gives [engine.CodeUnsupported].
func (e *Engine) fetch(ctx context.Context, at *url.URL, build func(*fallback) (*body, error), out any) error {
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
	r, err := e.do(ctx, op)
	if err != nil {
		return err
	}
	defer r.close()
	if !r.whole() {
		return errNoCount // such as an HTML page
	}
	return r.decode(out)
}
