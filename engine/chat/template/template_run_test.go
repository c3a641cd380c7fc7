package template

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/template/bounds"
)

func TestLimits(t *testing.T) {
	for _, tt := range []struct{ name, source, want string }{
		{"endless loop", "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}", bounds.ErrSlow.Error()},
		{"endless recursion", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "macros nest deeper than"},
		{"long range", "{{ range(100001) }}", "range has more than"},
		{"range without end", "{{ range(0, 1, 0) }}", "a step other than 0"},
		{"range of text", "{{ range('a') }}", "integers"},
		{"a text that doubles", "{% set ns = namespace(x='0123456789abcdef') %}{% for i in range(40) %}{% set ns.x = ns.x + ns.x %}{% endfor %}", bounds.ErrHeap.Error()},
		{"a list that doubles", "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}", bounds.ErrHeap.Error()},
		{"long prompt", "{% for i in range(100) %}{{ 'x' * 1000000 }}{% endfor %}", "bytes, more than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tpl, err := compile(tt.source, Model{}, testTime)
			if err != nil {
				t.Fatal(err)
			}
			switch tt.want {
			case bounds.ErrSlow.Error():
				tpl.bounds.Time = 20 * time.Millisecond
			case bounds.ErrHeap.Error():
				tpl.bounds.Heap = 32 << 20
			}
			if _, err := tpl.run(t.Context(), map[string]jinja.Value{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestRange(t *testing.T) {
	for _, tt := range []struct{ call, want string }{
		{"range(3)", "[0, 1, 2]"},
		{"range(1, 3)", "[1, 2]"},
		{"range(5, 0, -2)", "[5, 3, 1]"},
		{"range(3, 1)", "[]"},
	} {
		tpl, err := compile("{{ "+tt.call+" }}", Model{}, testTime)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tpl.run(t.Context(), map[string]jinja.Value{}); err != nil || got != tt.want {
			t.Errorf("%s gives %s, %v; want %s", tt.call, got, err, tt.want)
		}
	}
}

// A rendering that ran out of time and has not ended keeps others out, until
// it has.
func TestStuck(t *testing.T) {
	tpl, err := compile("{{ hang() }}", Model{}, testTime)
	if err != nil {
		t.Fatal(err)
	}
	release, ended := make(chan struct{}), make(chan struct{})
	hang := jinja.NewCallable("hang", func([]jinja.Value, map[string]jinja.Value) (jinja.Value, error) {
		<-release
		close(ended)
		return jinja.None(), nil
	})
	tpl.bounds.Time = time.Millisecond
	if _, err := tpl.run(t.Context(), map[string]jinja.Value{"hang": hang}); !errors.Is(err, bounds.ErrSlow) {
		t.Errorf("a hanging template gives %v, want %v", err, bounds.ErrSlow)
	}
	tpl.bounds.Time = bounds.MaxTime
	if _, err := tpl.run(t.Context(), map[string]jinja.Value{}); !errors.Is(err, bounds.ErrStuck) {
		t.Errorf("the next rendering gives %v, want %v", err, bounds.ErrStuck)
	}
	close(release)
	<-ended
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
	large := &engine.Request{Messages: []engine.Message{say("user", strings.Repeat("u", 2*bounds.LookEvery))}}
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
