package upstream

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/diglot/diglot/engine"
)

func TestAffinity(t *testing.T) {
	say := func(role engine.Role, texts ...string) engine.Message {
		m := engine.Message{Role: role}
		for _, text := range texts {
			m.Parts = append(m.Parts, engine.Text{Text: text})
		}
		return m
	}
	base := func() *engine.Request {
		return &engine.Request{Tools: []engine.Tool{{Name: "f"}}, Messages: []engine.Message{say(engine.RoleSystem, "s"), say(engine.RoleUser, "ab")}}
	}
	first := affinity("m", 0, base())
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(first) {
		t.Errorf("the hash is %q", first)
	}
	tests := []struct {
		name   string
		change func(*engine.Request)
		same   bool
	}{
		{"nothing", func(*engine.Request) {}, true},
		{"a later turn", func(r *engine.Request) {
			r.Messages = append(r.Messages, say(engine.RoleAssistant, "x"), say(engine.RoleUser, "y"))
		}, true},
		{"sampling", func(r *engine.Request) { r.Sampling.Seed, r.MaxTokens = new(int64(1)), new(1) }, true},
		{"another question", func(r *engine.Request) { r.Messages[1] = say(engine.RoleUser, "b") }, false},
		{"the same letters in two parts", func(r *engine.Request) { r.Messages[1] = say(engine.RoleUser, "a", "b") }, false},
		{"other instructions", func(r *engine.Request) { r.Messages[0] = say(engine.RoleSystem, "t") }, false},
		{"another tool", func(r *engine.Request) { r.Tools[0].Name = "g" }, false},
		{"a picture", func(r *engine.Request) {
			r.Messages[1].Parts = append(r.Messages[1].Parts, engine.Image{Data: []byte("x")})
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := base()
			tt.change(r)
			if got := affinity("m", 0, r); (got == first) != tt.same {
				t.Errorf("the hash is %s, and of the first turn %s", got, first)
			}
		})
	}
	if affinity("n", 0, base()) == first {
		t.Error("the model has no effect")
	}
}

// TestAffinityBehindExamples is about models whose definitions put the same
// turns before each conversation.
func TestAffinityBehindExamples(t *testing.T) {
	hash := func(texts ...string) string {
		r := &engine.Request{}
		for i, text := range texts {
			role := []engine.Role{engine.RoleSystem, engine.RoleUser, engine.RoleAssistant, engine.RoleUser, engine.RoleAssistant, engine.RoleUser}[i]
			r.Messages = append(r.Messages, engine.Message{Role: role, Parts: []engine.Part{engine.Text{Text: text}}})
		}
		return affinity("m", 2, r)
	}
	first := hash("s", "example", "answer", "a")
	if hash("s", "example", "answer", "a", "b", "c") != first {
		t.Error("a later turn has another hash")
	}
	if hash("s", "example", "answer", "b") == first || hash("t", "example", "answer", "a") == first {
		t.Error("two conversations have one hash")
	}
}

func TestAffinityHeader(t *testing.T) {
	tests := []struct {
		name, config, header string
		want                 bool
	}{
		{"the usual one", "", DefaultAffinityHeader, true},
		{"another one", "X-User-Id", "X-User-Id", true},
		{"only that one", "X-User-Id", DefaultAffinityHeader, false},
		{"none", "-", DefaultAffinityHeader, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, p := serve(t, Config{AffinityHeader: tt.config}, func(w http.ResponseWriter, _ *http.Request, _ int) { answerA(w) })
			if _, err := gather(t.Context(), e, ask("u")); err != nil {
				t.Fatal(err)
			}
			if got := p.last().header.Get(tt.header); (got != "") != tt.want {
				t.Errorf("%s is %q", tt.header, got)
			}
		})
	}
}
