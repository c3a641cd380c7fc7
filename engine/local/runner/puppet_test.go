package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/confine"
)

// TestMain makes the test binary its own child process.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != "child" {
		os.Exit(m.Run())
	}
	if os.Args[2] == "parent" {
		beParent()
		return
	}
	switch os.Args[2] {
	case "liar":
		fmt.Fprintln(os.Stderr, beLiar())
		os.Exit(1)
	case "liar about itself":
		fmt.Fprintln(os.Stderr, beLiar(engine.Model{Context: -1}))
		os.Exit(1)
	}
	err := RunChild(context.Background(), Child{State: os.Getenv(confine.Marker), Open: func(context.Context, confine.Held) (engine.Engine, error) {
		switch os.Args[2] {
		case "broken":
			return nil, errors.New("/secret/path: not a model")
		case "scripted":
			return scripted()
		case "large":
			return nil, engine.Errorf(engine.CodeUnsupported, "The model needs 5 GB.")
		case "dies":
			os.Exit(7)
		}
		return newPuppet(), nil
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// beParent starts a child, says where its socket is, and waits to be killed.
func beParent() {
	e, err := New(context.Background(), Config{Models: []Model{puppetModel("m", "puppet")}, Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = e.Load(context.Background(), "m")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(e.worker("m").latest.process.client.path)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func puppetModel(name, behaviour string) Model {
	return Model{Name: name, Command: []string{os.Args[0], "child", behaviour}}
}

// puppet is an engine that obeys the last text of a request.
type puppet struct {
	engine.Engine // nil: no other method is called
	mu            sync.Mutex
	changed       *sync.Cond
	stalled       int
}

func newPuppet() *puppet {
	p := &puppet{}
	p.changed = sync.NewCond(&p.mu)
	return p
}

func (p *puppet) Models(context.Context) ([]engine.Model, error) {
	return []engine.Model{{Name: "m", Owner: "library", Context: 4096}}, nil
}

func (p *puppet) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		said := req.Messages[len(req.Messages)-1].Parts[0].(engine.Text).Text
		verb, number, _ := strings.Cut(said, " ")
		n, _ := strconv.Atoi(number)
		switch verb {
		case "fail":
			yield(nil, puppetError)
		case "count": // n numbers
			p.say(yield, n, func(i int) string { return strconv.Itoa(i) + " " })
		case "pid": // the process, and the model's name as it got here
			p.say(yield, 1, func(int) string { return fmt.Sprintf("%d %s", os.Getpid(), req.Model) })
		case "environ": // the variables that the process has
			p.say(yield, 1, func(int) string { return strings.Join(os.Environ(), "\n") })
		case "limit": // the memory to n more megabytes
			used, err := confine.MemoryUsed()
			if err == nil {
				err = confine.LimitMemory(used + int64(n)<<20)
			}
			p.say(yield, 1, func(int) string { return fmt.Sprint(err) })
		case "eat": // n megabytes
			eaten := bytes.Repeat([]byte{1}, n<<20)
			p.say(yield, 1, func(int) string { return strconv.Itoa(len(eaten) >> 20) })
		case "read": // a file
			_, err := os.ReadFile(number)
			p.say(yield, 1, func(int) string { return fmt.Sprint(err) })
		case "die": // after one word
			if yield(engine.Start{}, nil) && yield(engine.BlockStart{Kind: engine.BlockText}, nil) {
				yield(engine.TextDelta{Text: "last words"}, nil)
			}
			fmt.Fprintln(os.Stderr, "fatal: "+said)
			os.Exit(3)
		case "stall": // after one word, until the client leaves
			p.count(1)
			defer p.count(-1)
			if yield(engine.Start{}, nil) && yield(engine.BlockStart{Kind: engine.BlockText}, nil) {
				yield(engine.TextDelta{Text: "wait"}, nil)
			}
			<-ctx.Done()
		case "settle": // once no more than n stall
			p.mu.Lock()
			for p.stalled > n {
				p.changed.Wait()
			}
			p.mu.Unlock()
			p.say(yield, 1, func(int) string { return "settled" })
		}
	}
}

func (p *puppet) count(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled += n
	p.changed.Broadcast()
}

func (p *puppet) say(yield func(engine.Event, error) bool, n int, word func(int) string) {
	if !yield(engine.Start{PromptTokens: n}, nil) || !yield(engine.BlockStart{Kind: engine.BlockText}, nil) {
		return
	}
	for i := range n {
		if text := word(i); text != "" && !yield(engine.TextDelta{Text: text}, nil) {
			return
		}
	}
	_ = yield(engine.BlockStop{}, nil) &&
		yield(engine.Finish{Reason: engine.FinishEndOfTurn}, nil) &&
		yield(engine.Done{Usage: engine.Usage{PromptTokens: n, CompletionTokens: n}}, nil)
}

var puppetError = &engine.Error{
	Code:       engine.CodeOverloaded,
	Message:    "for the client",
	Place:      engine.Place{Field: engine.FieldTools, Index: 2, Path: "/a"},
	Param:      "p",
	RetryAfter: 3,
	NoRetry:    true,
	Detail:     "d",
	Err:        errors.New("for the log"),
}

// order is a request that a puppet obeys.
func order(model, text string) *engine.Request {
	return &engine.Request{Model: model, Messages: []engine.Message{
		{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: text}}},
	}}
}

// ask runs a request to its end.
func ask(t *testing.T, e engine.Engine, req *engine.Request) (string, error) {
	t.Helper()
	r, err := engine.Collect(e.Generate(t.Context(), req))
	if err != nil {
		return "", err
	}
	return r.Choices[0].Blocks[0].Text, nil
}

// code is the code of an engine's error.
func code(t *testing.T, err error) engine.Code {
	t.Helper()
	if err == nil {
		return ""
	}
	var coded *engine.Error
	if !errors.As(err, &coded) {
		t.Fatalf("error %v is not coded", err)
	}
	return coded.Code
}
