package engine

import (
	"context"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lister is an engine with the models that it names. It answers with its own
// first name.
type lister []string

func (l lister) Models(context.Context) ([]Model, error) {
	var models []Model
	for _, name := range l {
		models = append(models, Model{Name: name})
	}
	return models, nil
}

func (l lister) Generate(context.Context, *Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) { yield(Start{Prompt: l[0]}, nil) }
}

func (l lister) Count(context.Context, *Request) (int, error) { return len(l[0]), nil }

func (l lister) Embed(context.Context, *EmbeddingRequest) (*Embeddings, error) {
	return &Embeddings{PromptTokens: len(l[0])}, nil
}

func (l lister) GenerateImages(context.Context, *ImageRequest) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) { yield(Drawn{Quality: l[0]}, nil) }
}

type unlistable struct{ lister }

func (unlistable) Models(context.Context) ([]Model, error) {
	return nil, Errorf(CodeInternal, "no list")
}

func TestMux(t *testing.T) {
	m := Mux{lister{"b", "d:latest"}, lister{"a", "b:latest"}}
	models, err := m.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Model{{Name: "a"}, {Name: "b"}, {Name: "d:latest"}}, models); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		name, want string
		code       Code
	}{
		{"a", "a", ""},
		{"b", "b", ""},
		{"a:latest", "a", ""},
		{"d", "b", ""},
		{"d:latest", "b", ""},
		{"a:7b", "", CodeModelNotFound},
		{"", "", CodeModelNotFound},
	} {
		var got string
		var code Code
		for event, err := range m.Generate(t.Context(), &Request{Model: tt.name}) {
			if err != nil {
				code = AsError(err).Code
				continue
			}
			got = event.(Start).Prompt
		}
		if got != tt.want || code != tt.code {
			t.Errorf("model %q: answered by %q, code %q; want %q, %q", tt.name, got, code, tt.want, tt.code)
		}
	}
}

func TestMuxPassesErrorsOn(t *testing.T) {
	m := Mux{unlistable{}, lister{"a"}}
	if _, err := m.Models(t.Context()); err == nil {
		t.Error("models: no error")
	}
	for _, err := range m.Generate(t.Context(), &Request{Model: "a"}) {
		if e := AsError(err); e == nil || e.Code != CodeInternal {
			t.Errorf("generate: %v", err)
		}
	}
}

// knowing is an engine that finds models which it does not list.
type knowing struct{ lister }

func (knowing) FindModel(_ context.Context, name string) (Model, error) {
	switch name {
	case "alias":
		return Model{Name: "k"}, nil
	case "../x":
		return Model{}, Errorf(CodeInvalidArgument, "That is no name.")
	}
	return Model{}, Errorf(CodeModelNotFound, "Pull it first.")
}

func TestMuxAsksFinders(t *testing.T) {
	m := Mux{lister{"a"}, knowing{lister{"k"}}}
	for _, tt := range []struct{ name, want, message string }{
		{"a:latest", "a", ""},
		{"alias", "k", ""},
		{"../x", "", "That is no name."},
		{"b", "", "Pull it first."},
	} {
		model, err := FindModel(t.Context(), m, tt.name)
		var message string
		if err != nil {
			message = AsError(err).Message
		}
		if model.Name != tt.want || message != tt.message {
			t.Errorf("model %q: found %q, error %q; want %q, %q", tt.name, model.Name, message, tt.want, tt.message)
		}
		if _, err := m.Count(t.Context(), &Request{Model: tt.name}); (err != nil) != (tt.message != "") {
			t.Errorf("counting with model %q: %v", tt.name, err)
		}
	}
}
