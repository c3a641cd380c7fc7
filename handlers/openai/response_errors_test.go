package openai

import (
	"errors"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// TestItemPlaces checks paths: messages are not items one by one.
func TestItemPlaces(t *testing.T) {
	places := itemPlaces{instructionsPlace, 0, 3}
	tests := []struct {
		place engine.Place
		want  string
	}{
		{engine.Place{Field: engine.FieldMessages, Index: 0}, "instructions"},
		{engine.Place{Field: engine.FieldMessages, Index: 1}, "input[0]"},
		{engine.Place{Field: engine.FieldMessages, Index: 2}, "input[3]"},
		{engine.Place{Field: engine.FieldMessages, Index: 9}, "input"},
		{engine.Place{Field: engine.FieldTools, Index: 2, Path: "/properties/a~1b"}, "tools[2].parameters.properties.a/b"},
		{engine.Place{Field: engine.FieldFormat, Path: "/not"}, "text.format.schema.not"},
		{engine.Place{Field: engine.FieldMaxTokens}, "max_output_tokens"},
		{engine.Place{Field: engine.FieldToolChoice}, "tool_choice"},
		{engine.Place{Field: engine.FieldModel}, "model"},
		{engine.Place{}, ""},
	}
	for _, tt := range tests {
		if got := places.fromPlace(tt.place); got != tt.want {
			t.Errorf("%+v is %q, want %q", tt.place, got, tt.want)
		}
	}
	whole := itemPlaces{wholeInputPlace}
	if got := whole.fromPlace(engine.Place{Field: engine.FieldMessages}); got != "input" {
		t.Errorf("the only message is %q, want input", got)
	}
}

func TestItemPlacesOfErrors(t *testing.T) {
	cause := errors.New("secret")
	tests := []struct {
		name  string
		err   error
		param string
	}{
		{"at an item", engine.Errorf(engine.CodeUnsupported, "No.").At(engine.Place{Field: engine.FieldMessages, Index: 1}), "input[4]"},
		{"of all", engine.Errorf(engine.CodeContextLength, "Long.").At(engine.Place{Field: engine.FieldMessages}), "input"},
		{"named before", &engine.Error{Code: engine.CodeUnsupported, Param: "p", Place: engine.Place{Field: engine.FieldModel}}, "p"},
	}
	for _, tt := range tests {
		e := &handlerstest.Engine{Err: tt.err}
		for _, err := range (itemPlaces{0, 4}).name(e.Generate(t.Context(), nil)) {
			if got := engine.AsError(err); got.Param != tt.param || got == tt.err && tt.name != "named before" {
				t.Errorf("%s: the error is at %q, want %q in a copy", tt.name, got.Param, tt.param)
			}
		}
	}
	for _, err := range (itemPlaces{}).name((&handlerstest.Engine{Err: cause}).Generate(t.Context(), nil)) {
		if err != cause {
			t.Errorf("another error became %v", err)
		}
	}
}
