//go:build llamacpp

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/local/llamacpp"
)

const (
	clients      = 8
	clientTokens = 32
	prefixTokens = 1300
)

const story = "Write a long story about a fox who builds a mill by the river."

// measure runs the groups of measurements. Streams come first: the prefixes that
// clients leave in the cache would slow them down.
func (b *bench) measure(ctx context.Context) error {
	streams := []func(context.Context, int) error{b.bareStream, b.copiedStream, b.modelStream}
	clients := []func(context.Context, int) error{b.modelClients}
	if b.server != nil {
		streams = append(streams, b.serverStream)
		clients = append(clients, b.serverClients)
	}
	if b.llamaBench != "" {
		streams = append(streams, b.peerStream)
	}
	if err := b.repeat(ctx, 4*b.rounds, streams); err != nil {
		return err
	}
	return b.repeat(ctx, b.rounds, clients)
}

func (b *bench) repeat(ctx context.Context, rounds int, steps []func(context.Context, int) error) error {
	for round := range rounds {
		for _, step := range steps {
			if err := step(ctx, round); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) prompt(ctx context.Context, text string) ([]int32, error) {
	return b.model.Tokenize(ctx, prompt.Prompt{Spans: []prompt.Span{{Text: text}}})
}

func (b *bench) bareStream(ctx context.Context, _ int) error {
	return b.loop(ctx, "bare", b.bare)
}

func (b *bench) copiedStream(ctx context.Context, _ int) error {
	return b.loop(ctx, "bare, copied", b.copied)
}

func (b *bench) loop(ctx context.Context, name string, bare *llamacpp.Bare) error {
	tokens, err := b.prompt(ctx, story)
	if err != nil {
		return err
	}
	each, err := bare.Token(tokens, b.tokens)
	b.add(name, milliseconds(each))
	return err
}

func (b *bench) modelStream(ctx context.Context, _ int) error {
	tokens, err := b.prompt(ctx, story)
	if err != nil {
		return err
	}
	ends, err := b.ends(ctx)
	if err != nil {
		return err
	}
	// The engine's defaults, which cost more than greedy decoding.
	job := chat.Job{Prompt: tokens, MaxTokens: b.tokens, Sampling: engine.Sampling{
		Temperature: new(0.8), TopK: new(40), TopP: new(0.95), MinP: new(0.05), LogitBias: ends,
	}}
	before := b.model.Stats()
	var watch stopwatch
	for p, err := range b.model.Decode(ctx, job) {
		if err != nil {
			return err
		}
		if p.End == chat.EndNone {
			watch.tick(1)
		}
	}
	after := b.model.Stats()
	b.add("engine", watch.each())
	b.add("choosing", float64(after.Sampling-before.Sampling)/float64(after.Decoding-before.Decoding))
	return nil
}

// ends forbids end-of-turn tokens, so that all streams have the same length.
func (b *bench) ends(ctx context.Context) (map[int]float64, error) {
	tokens, err := b.prompt(ctx, b.model.Info().EOS)
	if err != nil {
		return nil, err
	}
	return map[int]float64{int(tokens[len(tokens)-1]): -100}, nil
}

// stopwatch measures the time per token, from the first token on.
type stopwatch struct {
	first, last time.Time
	tokens      int
}

func (w *stopwatch) tick(tokens int) {
	w.last = time.Now()
	if w.first.IsZero() {
		w.first = w.last
		return
	}
	w.tokens += tokens
}

// each returns milliseconds per token.
func (w *stopwatch) each() float64 {
	return milliseconds(w.last.Sub(w.first)) / float64(max(w.tokens, 1))
}

// peerStream runs llama-bench, which prints a JSON list of its tests.
func (b *bench) peerStream(ctx context.Context, _ int) error {
	out, err := exec.CommandContext(ctx, b.llamaBench, "-m", b.path, "-t", strconv.Itoa(b.threads),
		"-p", "0", "-n", strconv.Itoa(b.tokens), "-r", "1", "-o", "json").Output()
	if err != nil {
		return fmt.Errorf("llama-bench: %w", err)
	}
	var tests []struct {
		Speed float64 `json:"avg_ts"` // tokens per second
	}
	if err := json.Unmarshal(out, &tests); err != nil || len(tests) == 0 {
		return fmt.Errorf("llama-bench printed %q: %w", out, err)
	}
	b.add("llama-bench", 1000/tests[0].Speed)
	return nil
}

// prefix returns a text of about prefixTokens, different in each round.
func (b *bench) prefix(ctx context.Context, round int) (string, error) {
	var text strings.Builder
	for i := 0; ; i++ {
		fmt.Fprintf(&text, "In round %d, rule %d says that clear code is read more often than it is written.\n", round, i)
		tokens, err := b.prompt(ctx, text.String())
		if err != nil || len(tokens) >= prefixTokens {
			return text.String(), err
		}
	}
}

func question(i int) string {
	return fmt.Sprintf("Question %d: what does rule %d say, and why does it matter?", i, 3*i+1)
}

func (b *bench) modelClients(ctx context.Context, round int) error {
	return b.clients(ctx, "engine", round, func(ctx context.Context, text string) error {
		tokens, err := b.prompt(ctx, text)
		if err != nil {
			return err
		}
		for _, err := range b.model.Decode(ctx, chat.Job{Prompt: tokens, MaxTokens: clientTokens}) {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *bench) serverClients(ctx context.Context, round int) error {
	return b.clients(ctx, "HTTP", round, func(ctx context.Context, text string) error {
		return b.server.chat(ctx, text, clientTokens, nil, func() {})
	})
}

// clients times one client and then eight, each time with a prefix that is not
// cached.
func (b *bench) clients(ctx context.Context, name string, round int, ask func(context.Context, string) error) error {
	single, err := b.prefix(ctx, 1000+round)
	if err != nil {
		return err
	}
	if err := b.time(name+": 1 client", func() error { return ask(ctx, single+question(0)) }); err != nil {
		return err
	}
	shared, err := b.prefix(ctx, 2000+round)
	if err != nil {
		return err
	}
	return b.time(name+": 8 clients", func() error {
		errs := make([]error, clients)
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() { errs[i] = ask(ctx, shared+question(i)) })
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// report prints the medians, with the limits that the project promises.
func (b *bench) report(out io.Writer) {
	fmt.Fprintf(out, "%s, %d threads, middle one of %d rounds\n\n", b.name, b.threads, b.rounds)
	fmt.Fprintf(out, "one stream, ms per token\n")
	fmt.Fprintf(out, "  %-14s %8.2f\n", "bare C loop", b.median("bare"))
	for _, name := range []string{"bare, copied", "engine", "HTTP", "llama-bench"} {
		if len(b.samples[name]) > 0 {
			fmt.Fprintf(out, "  %-14s %8.2f   %.3f of bare%s\n", name, b.median(name), b.ratio(name, "bare"), promise(name))
		}
	}
	fmt.Fprintf(out, "\nchoosing tokens: %.1f %% of computing them (at most 5)\n\n", 100*b.median("choosing"))
	fmt.Fprintf(out, "%d clients with one prefix of %d tokens, %d tokens each, against 1\n", clients, prefixTokens, clientTokens)
	for _, name := range []string{"engine", "HTTP"} {
		many, one := name+": 8 clients", name+": 1 client"
		if len(b.samples[many]) > 0 {
			fmt.Fprintf(out, "  %-14s %8.0f ms and %8.0f ms: %.2f times (below 1.6)\n", name, b.median(many), b.median(one), b.ratio(many, one))
		}
	}
}

func promise(name string) string {
	if name == "HTTP" {
		return " (at most 1.05)"
	}
	return ""
}
