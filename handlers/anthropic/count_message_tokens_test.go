package anthropic

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	wire "github.com/diglot/diglot/gen/anthropic"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
)

// TestCountsTheSameRequest checks that the count maps every field that shapes the prompt:
// the two requests differ at most in limit, sampling and stop sequences.
func TestCountsTheSameRequest(t *testing.T) {
	document, err := openapi.Anthropic()
	if err != nil {
		t.Fatal(err)
	}
	create, _ := document.Operation("createMessage")
	count, _ := document.Operation("countMessageTokens")
	bodies := [][]byte{handlerstest.MessagesBody()}
	for _, example := range create.Examples {
		bodies = append(bodies, example)
	}
	for _, body := range bodies {
		want, err := bind(body)
		if err != nil {
			t.Fatal(err)
		}
		checked, v := count.Check(body)
		if v != nil {
			t.Fatalf("%v\n%.1000s", v, body)
		}
		var in wire.CountMessageTokensRequest
		if err := json.Unmarshal(checked.Body, &in); err != nil {
			t.Fatal(err)
		}
		got, _, err := toCountRequest(&in)
		if err != nil {
			t.Fatal(err)
		}
		want.MaxTokens, want.Stop, want.Sampling = nil, nil, got.Sampling
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-message +count\n%s\n%.1000s", diff, body)
		}
	}
}
