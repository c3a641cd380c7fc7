package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/diglot/diglot/tools/bench/ask"
	"github.com/diglot/diglot/tools/bench/report"
)

// workload is something that servers are asked to do.
type workload struct {
	name, about string
	metrics     []report.Metric // the first one is plotted
	embeds      bool            // it wants a model of embeddings, not one of text
	servers     []string        // empty: all but the gateway

	// run does it once and returns a value for each metric. The key is different in each
	// round, so that no prompt is known from an earlier one.
	run func(ctx context.Context, t *target, m model, key string) (values, error)

	// fresh has a server that is started for it alone, instead.
	fresh func(ctx context.Context, f *found, m model, s report.Settings, key string) (values, error)
}

// values has one for each metric, by name.
type values map[string]float64

func lower(name, unit string) report.Metric { return report.Metric{Name: name, Unit: unit} }
func higher(name, unit string) report.Metric {
	return report.Metric{Name: name, Unit: unit, Higher: true}
}

var (
	inMilliseconds = lower("time", "ms")
	perSecond      = higher("rate", "tokens/s")
	ofProcessors   = lower("cpu", "ms/token")
)

// workloads are all of them, in the order in which they run.
func workloads(c config) []workload {
	all := []workload{
		{name: "start", about: "start of the server to the first token of 16", metrics: []report.Metric{inMilliseconds}, fresh: coldStart},
		{name: "memory", about: "memory after the first token, and the most while a long prompt and eight streams run",
			metrics: []report.Metric{lower("peak", "MB"), lower("idle", "MB")}, fresh: memory},
	}
	for _, n := range []int{16, 512, 4096} {
		all = append(all, workload{name: "first-" + itoa(n), about: fmt.Sprintf("the first token after a prompt of %d", n),
			metrics: []report.Metric{inMilliseconds, perSecond, ofProcessors}, run: firstToken(n)})
	}
	all = append(all,
		workload{name: "decode", about: "one stream", metrics: []report.Metric{perSecond, ofProcessors}, run: decode(c.tokens)},
		workload{name: "busy", about: "one stream beside a process that keeps a processor busy", metrics: []report.Metric{perSecond}, run: busy(c.tokens / 2)},
	)
	for _, n := range []int{2, 4, 8, 16} {
		all = append(all, workload{name: "streams-" + itoa(n), about: fmt.Sprintf("%d streams that begin at random, tokens of all together", n),
			metrics: []report.Metric{perSecond, lower("first", "ms"), ofProcessors}, run: streams(n, c.tokens/2, c.settings.Seed)})
	}
	return append(all,
		workload{name: "prefix", about: "the first token of a prompt of 1,300 that was asked before", metrics: []report.Metric{inMilliseconds}, run: askedAgain},
		workload{name: "prefix-8", about: "eight requests at once with one new prefix of 1,300 tokens, 32 tokens each", metrics: []report.Metric{inMilliseconds}, run: sharedPrefix},
		workload{name: "agent", about: "ten turns of a conversation with results of tools", metrics: []report.Metric{inMilliseconds}, run: agent},
		workload{name: "choices", about: "n=8: eight answers of 32 tokens to one prompt", metrics: []report.Metric{inMilliseconds}, run: choices},
		workload{name: "schema", about: "JSON that follows a schema", metrics: []report.Metric{perSecond}, run: schema},
		workload{name: "edit", about: "the prompt's text with one word changed", metrics: []report.Metric{perSecond, higher("copied", "%")}, run: edit},
		workload{name: "embeddings", about: "256 embeddings in one request", embeds: true, metrics: []report.Metric{inMilliseconds}, run: embeddings},
		workload{name: "gateway", about: "llama-server alone, and behind diglot", servers: []string{"llama-server", gatewayName},
			metrics: []report.Metric{lower("first", "ms"), perSecond, higher("streams", "tokens/s")}, run: throughGateway(c.tokens, c.settings.Seed)},
	)
}

// fits reports whether a workload is one for a model.
func (w workload) fits(m model) bool { return m.script || w.embeds == m.embeds }

// wants reports whether a workload is one for a server.
func (w workload) wants(server string) bool {
	if len(w.servers) > 0 {
		return slices.Contains(w.servers, server)
	}
	return server != gatewayName
}

// text is the body of a request for a text of so many tokens, sampled with a seed: what a
// model writes greedily repeats itself, and would be drafted.
func text(model string, m model, tokens int, key string) ask.Body {
	body := ask.Body{"model": model, "max_tokens": tokens, "temperature": 0.8, "top_p": 0.95, "seed": m.writer.Random(key).IntN(1 << 30)}
	if len(m.bias) > 0 {
		body["logit_bias"] = m.bias
	}
	return body
}

// completion asks for a text of so many tokens that continues a prompt.
func completion(ctx context.Context, t *target, m model, prompt string, tokens int, key string) (ask.Reply, error) {
	body := text(t.plain, m, tokens, key)
	body["prompt"] = prompt
	r, err := t.client.Text(ctx, "completions", body)
	if err != nil {
		return r, err
	}
	return r, r.Limited(1, tokens)
}

// metered adds the processor time per token to what run measures, where it is known.
func metered(t *target, run func() (v values, tokens int, err error)) (values, error) {
	before, unknown := t.cpu()
	v, tokens, err := run()
	if err != nil {
		return nil, err
	}
	v["cpu"] = math.NaN()
	if unknown != nil {
		return v, nil
	}
	after, err := t.cpu()
	if err != nil {
		return nil, err
	}
	v["cpu"] = (after - before) / float64(tokens)
	return v, nil
}

func rate(tokens int, d time.Duration) float64 { return float64(tokens) / d.Seconds() }
