package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/diglot/diglot/tools/bench/ask"
	"github.com/diglot/diglot/tools/bench/sample"
)

// arrival is the mean time between two requests of streams.
const arrival = 50 * time.Millisecond

// together runs n requests at their times, and returns the replies and the time from the
// first request to the last end.
func together(ctx context.Context, times []time.Duration, one func(i int) (ask.Reply, error)) ([]ask.Reply, time.Duration, error) {
	replies, errs := make([]ask.Reply, len(times)), make([]error, len(times))
	start := time.Now()
	var wg sync.WaitGroup
	for i, at := range times {
		wg.Go(func() {
			select {
			case <-time.After(time.Until(start.Add(at))):
				replies[i], errs[i] = one(i)
			case <-ctx.Done():
				errs[i] = ctx.Err()
			}
		})
	}
	wg.Wait()
	return replies, time.Since(start), errors.Join(errs...)
}

// streams has n texts at a time, each of its own prompt.
func streams(n, tokens int, seed uint64) func(context.Context, *target, model, string) (values, error) {
	return func(ctx context.Context, t *target, m model, key string) (values, error) {
		return metered(t, func() (values, int, error) {
			replies, took, err := together(ctx, sample.Arrivals(seed, n, arrival), func(i int) (ask.Reply, error) {
				own := fmt.Sprintf("%s, stream %d", key, i)
				prompt, err := story(m, own)
				if err != nil {
					return ask.Reply{}, err
				}
				return completion(ctx, t, m, prompt, tokens, own)
			})
			if err != nil {
				return nil, 0, err
			}
			var first []float64
			for _, r := range replies {
				first = append(first, milliseconds(r.First))
			}
			return values{"rate": rate(n*tokens, took), "first": sample.Summarize(first).Median}, n * tokens, nil
		})
	}
}

const prefixTokens = 1300

// askedAgain times the second of two equal requests.
func askedAgain(ctx context.Context, t *target, m model, key string) (values, error) {
	prompt, err := m.writer.Text(key, prefixTokens)
	if err != nil {
		return nil, err
	}
	if _, err := completion(ctx, t, m, prompt, 8, key); err != nil {
		return nil, err
	}
	r, err := completion(ctx, t, m, prompt, 8, key)
	return values{"time": milliseconds(r.First)}, err
}

// sharedPrefix asks eight questions about one text at once.
func sharedPrefix(ctx context.Context, t *target, m model, key string) (values, error) {
	prefix, err := m.writer.Text(key, prefixTokens)
	if err != nil {
		return nil, err
	}
	_, took, err := together(ctx, make([]time.Duration, 8), func(i int) (ask.Reply, error) {
		return completion(ctx, t, m, fmt.Sprintf("%s\n\nQuestion %d: what is said here?\nAnswer:", prefix, i), 32, key)
	})
	return values{"time": milliseconds(took)}, err
}

// agent has ten turns: each sends all that was said, and the result of a tool.
func agent(ctx context.Context, t *target, m model, key string) (values, error) {
	rules, err := m.writer.Text(key, 600)
	if err != nil {
		return nil, err
	}
	messages := []any{map[string]string{"role": "system", "content": "You work with tools. Rules: " + rules}}
	total := time.Duration(0)
	for turn := range 10 {
		result, err := m.writer.Text(fmt.Sprintf("%s, turn %d", key, turn), 100)
		if err != nil {
			return nil, err
		}
		messages = append(messages, map[string]string{"role": "user", "content": fmt.Sprintf("Result %d: %s\nWhat do you do now?", turn+1, result)})
		body := text(t.model, m, 32, key)
		body["messages"] = messages
		r, err := t.client.Text(ctx, "chat/completions", body)
		if err != nil {
			return nil, err
		}
		if err := r.Limited(1, 32); err != nil {
			return nil, err
		}
		total += r.End
		messages = append(messages, map[string]string{"role": "assistant", "content": r.Text()})
	}
	return values{"time": milliseconds(total)}, nil
}

// choices asks for eight answers in one request. A server that makes only one is asked
// eight times at once.
func choices(ctx context.Context, t *target, m model, key string) (values, error) {
	prompt, err := m.writer.Text(key, 200)
	if err != nil {
		return nil, err
	}
	if !t.oneChoice {
		body := text(t.plain, m, 32, key)
		body["prompt"], body["n"] = prompt, 8
		r, err := t.client.Text(ctx, "completions", body)
		if err == nil && len(r.Finish) == 8 {
			return values{"time": milliseconds(r.End)}, r.Limited(8, 32)
		}
		if refused := (*ask.StatusError)(nil); err != nil && !errors.As(err, &refused) {
			return nil, err
		}
		t.oneChoice = true
	}
	_, took, err := together(ctx, make([]time.Duration, 8), func(i int) (ask.Reply, error) {
		return completion(ctx, t, m, prompt, 32, fmt.Sprintf("%s, choice %d", key, i))
	})
	return values{"time": milliseconds(took)}, err
}

// embeddings asks for those of 256 texts of 16 to 48 tokens.
func embeddings(ctx context.Context, t *target, m model, key string) (values, error) {
	random := m.writer.Random(key)
	var inputs []string
	for i := range 256 {
		input, err := m.writer.Text(fmt.Sprintf("%s, input %d", key, i), 16+random.IntN(33))
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, input)
	}
	start := time.Now()
	_, err := t.client.Vectors(ctx, t.model, inputs)
	return values{"time": milliseconds(time.Since(start))}, err
}

// throughGateway asks for a short prompt, a text, and eight texts at once.
func throughGateway(tokens int, seed uint64) func(context.Context, *target, model, string) (values, error) {
	return func(ctx context.Context, t *target, m model, key string) (values, error) {
		first, err := firstToken(16)(ctx, t, m, key)
		if err != nil {
			return nil, err
		}
		one, err := decode(tokens)(ctx, t, m, key+", alone")
		if err != nil {
			return nil, err
		}
		many, err := streams(8, tokens/2, seed)(ctx, t, m, key)
		return values{"first": first["time"], "rate": one["rate"], "streams": many["rate"]}, err
	}
}
