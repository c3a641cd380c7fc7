package template

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/template/bounds"
)

// TestTooMuchIsTold: who sent the messages is told, and not to try again.
func TestTooMuchIsTold(t *testing.T) {
	tpl := mustTemplate(t, "{% for m in messages %}{{ m.content }}{% endfor %}{{ 'x'|indent(99999999999, true) if messages|length > 6 }}", Model{})
	var messages []engine.Message
	for range 4 {
		messages = append(messages, say(engine.RoleUser, "a"), say(engine.RoleAssistant, "b"))
	}
	_, err := tpl.Render(t.Context(), &engine.Request{Messages: messages})
	if e := engine.AsError(err); e.Code != engine.CodeInternal || !e.NoRetry || !strings.Contains(e.Message, "too much memory") {
		t.Errorf("error %#v", err)
	}
}

func TestCanceledRender(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tpl := mustTemplate(t, "", Model{})
	_, err := tpl.Render(ctx, &engine.Request{Messages: []engine.Message{say(engine.RoleUser, "Hi")}})
	if e := (*engine.Error)(nil); !errors.As(err, &e) || e.Code != engine.CodeCanceled {
		t.Errorf("error is %v, want %s", err, engine.CodeCanceled)
	}
}

// bigRequest is what an agent sends: 100 messages and 24 tools with 69 KB of
// schemas.
func bigRequest() *engine.Request {
	req := &engine.Request{Messages: []engine.Message{say(engine.RoleSystem, strings.Repeat("You are an agent. ", 100))}}
	for i := range 33 {
		id := fmt.Sprintf("call%05d", i)
		req.Messages = append(req.Messages,
			say(engine.RoleUser, strings.Repeat("Some words of the user, and <b>markup</b>. ", 10)),
			callMessage("", engine.ToolCall{ID: id, Name: "tool_1", Arguments: `{"path": "/tmp/x", "count": 3}`}),
			resultMessage(id, "tool_1", strings.Repeat("a line of a file\n", 20)),
		)
	}
	for i := range 24 {
		var properties []string
		for k := range 20 {
			properties = append(properties, fmt.Sprintf(`"property_%d": {"type": "string", "description": "%s", "enum": ["a", "b"]}`, k, strings.Repeat("what it is for ", 4)))
		}
		req.Tools = append(req.Tools, engine.Tool{
			Name:        fmt.Sprintf("tool_%d", i),
			Description: "Does something.",
			Parameters:  []byte(`{"type": "object", "properties": {` + strings.Join(properties, ", ") + `}}`),
		})
	}
	return req
}

func BenchmarkRender(b *testing.B) {
	tpl, err := New("", Model{Format: "hermes", Control: manySpellings}, testTime)
	if err != nil {
		b.Fatal(err)
	}
	req := bigRequest()
	for b.Loop() {
		if _, err := tpl.Render(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}

// TestRenderWaits: who waits for others to be rendered leaves with its client, and
// who takes little does not wait.
func TestRenderWaits(t *testing.T) {
	tpl := mustTemplate(t, anyTurn, Model{})
	held, release, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		_, err := tpl.bounds.Run(context.Background(), func(m *bounds.Meter) (string, error) {
			err := m.Begin()
			close(held)
			<-release
			return "", err
		})
		if err != nil {
			t.Error(err)
		}
	}()
	<-held
	large := &engine.Request{Messages: []engine.Message{say("user", strings.Repeat("u", 2*bounds.CheckEvery))}}
	small := &engine.Request{Messages: []engine.Message{say("user", "u")}}
	if _, err := tpl.Render(t.Context(), small); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := tpl.Render(ctx, large)
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(release)
	<-over
	if _, err := tpl.Render(t.Context(), large); err != nil {
		t.Error(err)
	}
}

// TestHungryRenderings has many at once that take all they may: what they take
// together is what one may.
func TestHungryRenderings(t *testing.T) {
	for name, source := range map[string]string{
		"Jinja":  "{% set ns = namespace(a='xxxxxxxx') %}{% for i in range(64) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}{{ ns.a | length }}",
		"macros": "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
		"Go":     `{{ define "x" }}{{ .Prompt }}{{ template "x" . }}{{ end }}{{ if eq .Prompt "boom" }}{{ template "x" . }}{{ end }}{{ .Prompt }}{{ .Response }}`,
	} {
		tpl, err := compile(source, Model{}, testTime)
		if err != nil {
			t.Fatal(err)
		}
		tpl.bounds.Heap = 32 << 20
		start := bounds.HeapSize()
		var peak atomic.Uint64
		ended := make(chan struct{})
		var looker, all sync.WaitGroup
		looker.Go(func() {
			look := time.NewTicker(time.Millisecond)
			defer look.Stop()
			for {
				peak.Store(max(peak.Load(), bounds.HeapSize()))
				select {
				case <-ended:
					return
				case <-look.C:
				}
			}
		})
		for range 16 {
			all.Go(func() {
				_, err := tpl.Render(t.Context(), &engine.Request{Messages: []engine.Message{say("user", "boom")}})
				if e := (*engine.Error)(nil); !errors.As(err, &e) {
					t.Errorf("%s: error %v", name, err)
				}
			})
		}
		all.Wait()
		close(ended)
		looker.Wait()
		if peak.Load() > start+4*tpl.bounds.Heap { // Go may have freed more than was taken
			t.Errorf("%s: %d MB are taken", name, (peak.Load()-start)>>20)
		}
	}
}
