package scenario

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// patience is how long a quick request may wait for others to be given up, and how long a
// stream may stay silent.
const patience = 30 * time.Second

// bounds is what happens at the ends: of a client's patience, and of a model's context.
func bounds() []conformance.Scenario {
	return slices.Concat(
		aloneEach("leaving/stream", "A client that leaves a stream frees its place.", leaveStreams),
		aloneEach("leaving/plain", "A client that leaves before the answer frees its place.", leavePlain),
		aloneEach("stream/keep-alive", "A stream is not silent for 30 seconds while a long prompt is read.", keepAlive),
		dialect.Each("context/overflow", "A prompt beyond the context is a bad request that gives both numbers, plain and streamed.", nil, overflow),
		dialect.Each("context/limit-beyond", "A limit of tokens beyond the context is cut, not refused.", schemas, limitBeyond),
	)
}

func aloneEach(promise, about string, run func(*conformance.Trial, dialect.Dialect)) []conformance.Scenario {
	all := dialect.Each(promise, about, nil, run)
	for i := range all {
		all[i].Alone = true
	}
	return all
}

// long is a request whose answer goes on for very long.
func long(t *conformance.Trial, text string) dialect.Request {
	warm := 1.0
	r := dialect.Greedy(t.Models.Text, "Write a very long story about "+text, 1500)
	r.Temperature = &warm
	return r
}

const leavers = 24

func leaveStreams(t *conformance.Trial, d dialect.Dialect) {
	leave(t, d, func(ctx context.Context, i int) {
		body, _, err := t.Open(ctx, d.For(t, streamed(long(t, "number "+string(rune('A'+i))))))
		if err == nil {
			bufio.NewReader(io.LimitReader(body, largestStream)).ReadString('\n')
			body.Close()
		}
	})
}

func leavePlain(t *conformance.Trial, d dialect.Dialect) {
	leave(t, d, func(ctx context.Context, i int) {
		body, _, err := t.Open(ctx, d.For(t, long(t, "number "+string(rune('A'+i)))))
		if err == nil {
			body.Close()
		}
	})
}

// leave lets many clients begin and leave within seconds, and then wants a quick request
// answered.
func leave(t *conformance.Trial, d dialect.Dialect, one func(ctx context.Context, i int)) {
	d.Ask(t, dialect.Greedy(t.Models.Text, "Hello", 1)) // the model is loaded
	var group sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	for i := range leavers {
		group.Go(func() { one(ctx, i) })
	}
	group.Wait()
	begin := time.Now()
	a := d.Ask(t, dialect.Greedy(t.Models.Text, "Hello", 1))
	if took := time.Since(begin); took > patience {
		t.Errorf(a.Exchange, "after %d clients have left, a quick request takes %v", leavers, took.Round(time.Second))
	}
}

const (
	longestStream = 10 * time.Minute // of a few tokens, with all that keeps it alive
	largestStream = 1 << 20
)

// keepAlive holds that no silence, before the first byte of the body or between any two, is
// longer than patience. It ends the stream that is.
func keepAlive(t *conformance.Trial, d dialect.Dialect) {
	r := streamed(dialect.Greedy(t.Models.Text, strings.Repeat("The sea is wide and deep. ", 120)+"What is the sea?", 2))
	ctx, cancel := context.WithTimeout(t.Context(), longestStream)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	silent := time.AfterFunc(patience, func() { end(errSilent) })
	defer silent.Stop()
	body, x, err := t.Open(ctx, d.For(t, r))
	if err != nil {
		t.Fatalf(x, "no reply: %v", cmp.Or(context.Cause(ctx), err))
	}
	defer body.Close()
	if x.Status != 200 {
		t.Skipf("a prompt of about 800 tokens is refused with status %d", x.Status)
	}
	buffer := make([]byte, 4096)
	for err == nil {
		var n int
		n, err = body.Read(buffer)
		silent.Reset(patience)
		if x.Body = append(x.Body, buffer[:n]...); len(x.Body) > largestStream {
			t.Fatalf(x, "the stream of an answer of 2 tokens does not end")
		}
	}
	if err != io.EOF {
		t.Errorf(x, "the stream breaks off: %v", cmp.Or(context.Cause(ctx), err))
	}
}

var errSilent = fmt.Errorf("it was silent for %v", patience)

// overflow sends about 300,000 tokens once, which few models take.
func overflow(t *conformance.Trial, d dialect.Dialect) {
	r := dialect.Greedy(t.Models.Text, strings.Repeat("sea land ", 150_000), 1)
	for _, stream := range []bool{false, true} {
		r.Stream = stream
		x := d.Do(t, r)
		switch x.Status {
		case 400:
		case 413:
			t.Skipf("a prompt of a megabyte is refused by its size, whatever the context")
		case 200:
			t.Skipf("the context takes 300,000 tokens")
		default:
			t.Fatalf(x, "status %d, want 400", x.Status)
		}
		message, err := dialect.Body(x)
		if err != nil {
			t.Fatalf(x, "%v", err)
		}
		if text := message.Object("error").Text("message"); numbers(text) < 2 {
			t.Errorf(x, "the message does not give the length of the prompt and of the context: %q", text)
		}
	}
}

// numbers counts the numbers of at least three digits in a text, separators allowed.
func numbers(text string) int {
	count, digits := 0, 0
	for _, c := range strings.NewReplacer(",", "", "_", "").Replace(text) + " " {
		if c >= '0' && c <= '9' {
			digits++
			continue
		}
		if digits >= 3 {
			count++
		}
		digits = 0
	}
	return count
}

func limitBeyond(t *conformance.Trial, d dialect.Dialect) {
	r := dialect.Greedy(t.Models.Text, "Is water wet? Answer as JSON.", 100_000_000)
	r.Schema = dialect.Closed(map[string]any{"yes": map[string]any{"type": "boolean"}}, "yes")
	x := d.Do(t, r)
	switch {
	case x.Status == 400 && !t.Marks:
		t.NotOfferedf("the server refuses a limit beyond the context")
	case x.Status != 200:
		t.Errorf(x, "status %d, want 200", x.Status)
	}
}
