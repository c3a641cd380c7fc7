package runner

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/google/go-cmp/cmp"
)

// serve serves e in this process and returns a client of it.
func serve(t testing.TB, e engine.Engine) *Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, l, e) }()
	c := Dial(path, NewBudget())
	t.Cleanup(func() {
		_ = c.Close()
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return c
}

func TestModels(t *testing.T) {
	c := serve(t, newPuppet())
	got, err := c.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]engine.Model{{Name: "m", Owner: "library", Context: 4096}}, got); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
}

// TestIdleConnections: many concurrent calls leave few idle connections.
func TestIdleConnections(t *testing.T) {
	c := serve(t, newPuppet())
	var ends []func()
	for range 4 * maxIdle {
		conn, err := c.connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		conn.complete = true // as behind a last reply
		ends = append(ends, c.release(t.Context(), conn))
	}
	for _, end := range ends {
		end()
	}
	if len(c.idle) != maxIdle {
		t.Errorf("%d connections are kept, want %d", len(c.idle), maxIdle)
	}
	if _, err := c.Models(t.Context()); err != nil {
		t.Errorf("a call over one that was kept: %v", err)
	}
}

func TestErrorCrosses(t *testing.T) {
	c := serve(t, newPuppet())
	req := order("m", "fail")
	req.Tools = make([]engine.Tool, puppetError.Place.Index+1)
	_, err := ask(t, c, req)
	same := cmp.Comparer(func(a, b error) bool { return a.Error() == b.Error() })
	if diff := cmp.Diff(puppetError, engine.AsError(err), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Err" }, same)); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	if _, err := serve(t, Failed(engine.Errorf(engine.CodeOverloaded, "later"))).Models(t.Context()); code(t, err) != engine.CodeOverloaded {
		t.Errorf("models of a failed engine: %v", err)
	}
}

// mirror is an engine that keeps the request and answers with events.
type mirror struct {
	engine.Engine // nil: no other method is called
	got           *engine.Request
	events        []engine.Event
}

func (m *mirror) Models(context.Context) ([]engine.Model, error) { return nil, nil }

func (m *mirror) Generate(_ context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	m.got = req
	return func(yield func(engine.Event, error) bool) {
		for _, e := range m.events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// members are the types of the closed interfaces.
var members = map[reflect.Type][]any{
	reflect.TypeFor[engine.Part]():  {engine.Text{}, engine.ReasoningText{}, engine.ToolCall{}, engine.ToolResult{}, engine.Image{}},
	reflect.TypeFor[engine.Event](): {engine.Start{}, engine.BlockStart{}, engine.TextDelta{}, engine.ReasoningDelta{}, engine.ToolCallDelta{}, engine.BlockStop{}, engine.Finish{}, engine.Done{}},
}

// fill sets v to a random value; half of all leaves are zero, pointers to
// zero among them. Slices and maps are nil or have members.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	zero := r.IntN(2) == 0
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			if !zero {
				v.Set(reflect.ValueOf(time.Unix(r.Int64N(1<<40), r.Int64N(1e9)).UTC()))
			}
			return
		}
		for i := range v.NumField() {
			fill(r, v.Field(i), depth+1)
		}
	case reflect.Interface:
		choice := members[v.Type()]
		if choice == nil || depth > 12 { // the cause of an error crosses as text
			return
		}
		member := reflect.New(reflect.TypeOf(choice[r.IntN(len(choice))])).Elem()
		fill(r, member, depth+1)
		v.Set(member)
	case reflect.Pointer:
		if !zero {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth+1)
		}
	case reflect.Slice:
		if zero || depth > 8 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1+r.IntN(3), 3))
		for i := range v.Len() {
			fill(r, v.Index(i), depth+1)
		}
	case reflect.Map:
		if !zero {
			v.Set(reflect.MakeMap(v.Type()))
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(r, key, depth)
			fill(r, value, depth)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		if !zero {
			v.SetString([]string{"a", "é\x00", "\xff<|im_end|>", strings.Repeat("long ", 3000)}[r.IntN(4)])
		}
	case reflect.Bool:
		v.SetBool(!zero)
	case reflect.Float64:
		if !zero {
			v.SetFloat([]float64{1.5, -2, math.Inf(-1), math.MaxFloat64}[r.IntN(4)])
		}
	case reflect.Int, reflect.Int64:
		if !zero {
			v.SetInt([]int64{1, -1, math.MaxInt64, math.MinInt64}[r.IntN(4)])
		}
	case reflect.Uint8:
		v.SetUint(r.Uint64N(256))
	default:
		panic(fmt.Sprintf("the test cannot fill a %v", v.Type()))
	}
}

// TestRequestsCross fills requests by their types, so that a field added to
// them later is covered.
func TestRequestsCross(t *testing.T) {
	m := &mirror{}
	c := serve(t, m)
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var req engine.Request
		fill(r, reflect.ValueOf(&req).Elem(), 0)
		req.Choices = 1
		m.events = []engine.Event{engine.Start{}, engine.Finish{Reason: engine.FinishMaxTokens}, engine.Done{}}
		if _, err := engine.Collect(c.Generate(t.Context(), &req)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(&req, m.got); diff != "" {
			t.Fatalf("seed %d: request (-sent +got):\n%s", seed, diff)
		}
	}
}

// TestEverythingCrosses does the same with messages. Prompts are sent apart from their
// Start, and alternatives have no alternatives.
func TestEverythingCrosses(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var sent engine.Event
		var told engine.Error
		var listing modelList
		fill(r, reflect.ValueOf(&sent).Elem(), 0)
		fill(r, reflect.ValueOf(&told).Elem(), 0)
		fill(r, reflect.ValueOf(&listing.models).Elem(), 0)
		switch e := sent.(type) {
		case engine.Start:
			e.Prompt, e.Used.Sampling.LogitBias = "", nil
			sent = e
		case engine.TextDelta:
			for i := range e.Logprobs {
				for k := range e.Logprobs[i].Top {
					e.Logprobs[i].Top[k].Top = nil
				}
			}
		}
		for _, m := range []message{sent, errorReply{wireError{coded: told, cause: "why"}}, listing, tokenCount{3}, embeddingInfo{1, 2, 3},
			engine.Preview{Index: 2, Drawn: engine.Drawn{Choice: 1, Image: engine.Image{MediaType: "image/png"}, Width: 4, Height: 5}},
			engine.Drawn{Choice: 1, Image: engine.Image{MediaType: "image/png"}, Width: 2, Height: 3, Quality: "low", Background: "opaque", Usage: engine.ImageUsage{InputTokens: 4, OutputTokens: 5, TextTokens: 6, ImageTokens: 7}}, payload{7}, prompt{8}, accepted{}, heartbeat{3, 4}, endOfEvents{}} {
			frame, err := appendFrame(nil, m)
			if err != nil {
				t.Fatalf("seed %d: %T: %v", seed, m, err)
			}
			got, err := parse(frame[frameHeader:])
			if err != nil {
				t.Fatalf("seed %d: %T: %v", seed, m, err)
			}
			unexported := cmp.AllowUnexported(errorReply{}, wireError{}, modelList{}, tokenCount{}, embeddingInfo{}, payload{}, prompt{}, heartbeat{})
			if diff := cmp.Diff(m, got, unexported); diff != "" {
				t.Fatalf("seed %d: %T (-sent +got):\n%s", seed, m, diff)
			}
		}
	}
}

func TestLeavingReachesTheServer(t *testing.T) {
	for _, tt := range []struct {
		name  string
		leave func(cancel context.CancelFunc) (goOn bool)
	}{
		{"canceled", func(cancel context.CancelFunc) bool { cancel(); return true }},
		{"iteration ended", func(context.CancelFunc) bool { return false }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := serve(t, newPuppet())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var last error
			for event, err := range c.Generate(ctx, order("m", "stall")) {
				last = err
				if _, ok := event.(engine.TextDelta); ok && !tt.leave(cancel) {
					break
				}
			}
			if got := code(t, last); got != engine.CodeCanceled && got != "" {
				t.Errorf("error %v", last)
			}
			if _, err := ask(t, c, order("m", "settle 0")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestManyAtOnce(t *testing.T) {
	c := serve(t, newPuppet())
	var asking sync.WaitGroup
	for i := range 64 {
		asking.Go(func() {
			want := ""
			for j := range i {
				want += fmt.Sprint(j, " ")
			}
			for range 5 {
				r, err := engine.Collect(c.Generate(t.Context(), order("m", fmt.Sprint("count ", i))))
				if err != nil || r.Choices[0].Blocks[0].Text != want {
					t.Errorf("request %d: %+v, error %v", i, r, err)
				}
			}
		})
	}
	asking.Wait()
	if n := len(c.idle); n == 0 || n > 64 {
		t.Errorf("%d idle connections after 64 clients", n)
	}
}

func TestServerGone(t *testing.T) {
	c := Dial(filepath.Join(t.TempDir(), "nobody"), NewBudget())
	if _, err := c.Models(t.Context()); code(t, err) != engine.CodeEngineCrashed {
		t.Errorf("models: %v", err)
	}
	_, err := ask(t, c, order("m", "count 1"))
	if l := asLost(err); code(t, err) != engine.CodeEngineCrashed || l == nil || l.arrived {
		t.Errorf("generate: %v, lost %+v", err, l)
	}
}

// TestNoRoomForAConnection: a lack of resources in the server is not a failure of the
// model's process, which would be killed for it.
func TestNoRoomForAConnection(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code engine.Code
	}{
		{syscall.EMFILE, engine.CodeOverloaded},
		{syscall.ENFILE, engine.CodeOverloaded},
		{syscall.EAGAIN, engine.CodeOverloaded},
		{syscall.ECONNREFUSED, engine.CodeEngineCrashed},
		{syscall.ENOENT, engine.CodeEngineCrashed},
		{context.Canceled, engine.CodeEngineCrashed}, // ctx is not done, so the client did not cancel
	} {
		err := unreachable(t.Context(), &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", tt.err)})
		if crashed := tt.code == engine.CodeEngineCrashed; err.Code != tt.code || (asLost(err) != nil) != crashed {
			t.Errorf("%v: %v, want code %q", tt.err, err, tt.code)
		}
	}
}

// TestUnspeakableEvent: an event that cannot be encoded closes the connection, so that
// the client does not wait forever.
func TestUnspeakableEvent(t *testing.T) {
	type unknown struct{ engine.Start }
	c := serve(t, &mirror{events: []engine.Event{unknown{}}})
	if _, err := ask(t, c, order("m", "")); code(t, err) != engine.CodeEngineCrashed {
		t.Errorf("error %v, want code %q", err, engine.CodeEngineCrashed)
	}
}

// BenchmarkToken measures what the socket adds to one event.
func BenchmarkToken(b *testing.B) {
	m := &mirror{events: []engine.Event{engine.Start{}, engine.BlockStart{Kind: engine.BlockText}}}
	for range 1000 {
		m.events = append(m.events, engine.TextDelta{Text: " token"})
	}
	m.events = append(m.events, engine.BlockStop{}, engine.Finish{Reason: engine.FinishMaxTokens}, engine.Done{})
	c := serve(b, m)
	for b.Loop() {
		for _, err := range c.Generate(b.Context(), order("m", "")) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/token")
}

// BenchmarkRequest measures what the socket adds to one request of 80 KB.
func BenchmarkRequest(b *testing.B) {
	c := serve(b, &mirror{events: []engine.Event{engine.Start{}, engine.Finish{Reason: engine.FinishMaxTokens}, engine.Done{}}})
	req := order("m", strings.Repeat("0123456789abcdef", 5000))
	for b.Loop() {
		for _, err := range c.Generate(b.Context(), req) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
