package modelfile

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// talk makes a conversation of "role:text".
func talk(turns ...string) []engine.Message {
	var all []engine.Message
	for _, t := range turns {
		role, text, _ := strings.Cut(t, ":")
		all = append(all, engine.Message{Role: engine.Role(role), Parts: []engine.Part{engine.Text{Text: text}}})
	}
	return all
}

func TestApplyMessages(t *testing.T) {
	both := &Definition{System: "S", Messages: talk("user:U", "assistant:A")}
	shots := &Definition{Messages: talk("system:S2", "user:U", "assistant:A")}
	for _, tt := range []struct {
		name       string
		definition *Definition
		client     []string
		want       []string
	}{
		{"nothing", &Definition{}, []string{"user:u"}, []string{"user:u"}},
		{"both", both, []string{"user:u"}, []string{"system:S", "user:U", "assistant:A", "user:u"}},
		{"a system text of the client", both, []string{"system:s", "user:u"}, []string{"system:s", "user:U", "assistant:A", "user:u"}},
		{"a developer text of the client", both, []string{"developer:d", "user:u"}, []string{"developer:d", "user:U", "assistant:A", "user:u"}},
		{"two of them", both, []string{"system:s", "developer:d", "user:u", "system:t"}, []string{"system:s", "developer:d", "user:U", "assistant:A", "user:u", "system:t"}},
		{"a late one", both, []string{"user:u", "system:s"}, []string{"system:S", "user:U", "assistant:A", "user:u", "system:s"}},
		{"a system text among the messages", shots, []string{"user:u"}, []string{"system:S2", "user:U", "assistant:A", "user:u"}},
		{"that gives way to the client's", shots, []string{"system:s", "user:u"}, []string{"system:s", "user:U", "assistant:A", "user:u"}},
		{"nothing from the client", both, nil, []string{"system:S", "user:U", "assistant:A"}},
	} {
		req := &engine.Request{Messages: talk(tt.client...)}
		tt.definition.Apply(req)
		if diff := cmp.Diff(talk(tt.want...), req.Messages); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestApplyParameters(t *testing.T) {
	d := &Definition{System: "S", Messages: talk("user:U"), Parameters: Parameters{MaxTokens: new(9), Stop: []string{"a", "b"}, Sampling: engine.Sampling{Temperature: new(0.5), Seed: new(int64(3))}}}
	for _, tt := range []struct {
		name      string
		req, want engine.Request
	}{
		{"nothing said", engine.Request{Messages: talk("system:s")}, engine.Request{Messages: talk("system:s", "user:U"), MaxTokens: new(9), Stop: []string{"a", "b"},
			Sampling: engine.Sampling{Temperature: new(0.5), Seed: new(int64(3))}}},
		{"zeros are obeyed", engine.Request{Messages: talk("system:s"), MaxTokens: new(0), Sampling: engine.Sampling{Temperature: new(0.0), Seed: new(int64(0))}},
			engine.Request{Messages: talk("system:s", "user:U"), MaxTokens: new(0), Stop: []string{"a", "b"}, Sampling: engine.Sampling{Temperature: new(0.0), Seed: new(int64(0))}}},
		{"a raw prompt", engine.Request{Prompt: &engine.Prompt{Text: "p"}, Stop: []string{"b", "c"}, Sampling: engine.Sampling{TopP: new(0.1)}},
			engine.Request{Prompt: &engine.Prompt{Text: "p"}, MaxTokens: new(9), Stop: []string{"b", "c", "a"}, Sampling: engine.Sampling{TopP: new(0.1), Temperature: new(0.5), Seed: new(int64(3))}}},
	} {
		req := tt.req
		d.Apply(&req)
		if diff := cmp.Diff(tt.want, req); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// TestApplySampling holds that no field of engine.Sampling is forgotten, those
// aside that no parameter sets.
func TestApplySampling(t *testing.T) {
	full := engine.Sampling{}
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Pointer {
			f.Set(reflect.New(f.Type().Elem()))
		}
	}
	req := &engine.Request{Prompt: &engine.Prompt{}}
	(&Definition{Parameters: Parameters{Sampling: full}}).Apply(req)
	if diff := cmp.Diff(full, req.Sampling); diff != "" {
		t.Error(diff)
	}
}

func TestApplyStopLimit(t *testing.T) {
	var own, client []string
	for i := range maxStops {
		own = append(own, fmt.Sprint("own", i))
		client = append(client, fmt.Sprint("client", i))
	}
	d := &Definition{Parameters: Parameters{Stop: own}}
	for n, want := range map[int]int{0: maxStops, 10: maxStops, maxStops: maxStops} {
		req := &engine.Request{Prompt: &engine.Prompt{}, Stop: client[:n]}
		d.Apply(req)
		if len(req.Stop) != want || !cmp.Equal(req.Stop[:n], client[:n]) {
			t.Errorf("%d stops of the client: %d together", n, len(req.Stop))
		}
	}
}

// TestApplyShares holds that nothing is written into slices that others have.
func TestApplyShares(t *testing.T) {
	messages := append(make([]engine.Message, 0, 20), talk("system:s", "user:u", "user:v")...)
	stops := append(make([]string, 0, 20), "x")
	d := &Definition{System: "S", Messages: append(make([]engine.Message, 0, 20), talk("user:U")...), Parameters: Parameters{Stop: append(make([]string, 0, 20), "a")}}
	for range 2 {
		req := &engine.Request{Messages: messages, Stop: stops}
		d.Apply(req)
		req.Messages[1].Parts[0] = engine.Text{Text: "changed"}
		req.Stop[0], req.Messages[0] = "changed", engine.Message{}
		req.Messages = append(req.Messages, engine.Message{})
		empty := &engine.Request{}
		d.Apply(empty)
		empty.Messages[0], empty.Stop[0] = engine.Message{}, "changed"
	}
	if diff := cmp.Diff(talk("system:s", "user:u", "user:v"), messages[:3]); diff != "" {
		t.Errorf("messages: %s", diff)
	}
	for _, m := range messages[3:cap(messages)] {
		if m.Role != "" {
			t.Errorf("behind the messages there is %+v", m)
		}
	}
	if diff := cmp.Diff([]string{"x", "", ""}, stops[:3]); diff != "" {
		t.Errorf("stops: %s", diff)
	}
	if diff := cmp.Diff(talk("user:U"), d.Messages); diff != "" || d.Parameters.Stop[0] != "a" {
		t.Errorf("the definition has changed: %+v", d)
	}
}
