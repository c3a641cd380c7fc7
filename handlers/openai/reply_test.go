package openai

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/handlers/internal/exchange"
)

var update = handlerstest.UpdateFlag()

// TestReplies writes every shape of answer, streamed and whole.
func TestReplies(t *testing.T) {
	h := head{id: "chatcmpl-1", created: 1_700_000_000, model: "m"}
	for _, r := range handlerstest.Replies() {
		t.Run(r.Name, func(t *testing.T) {
			var stream strings.Builder
			encoder := newEncoder(h, &r.Request, true, &exchange.Exchange{})
			for _, event := range r.Events {
				for _, f := range encoder.Encode(event) {
					stream.Write(f.Append(nil))
				}
			}
			handlerstest.Golden(t, update, r.Name+".stream.txt", stream.String())

			response, err := engine.Collect((&handlerstest.Engine{Events: r.Events}).Generate(t.Context(), &r.Request))
			if err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			if err := (answer{&exchange.Exchange{}, fromResponse(h, response, r.Request.Logprobs != nil)}).VisitCreateChatCompletionResponse(w); err != nil {
				t.Fatal(err)
			}
			handlerstest.Golden(t, update, r.Name+".json", w.Body.String())
		})
	}
}

func BenchmarkEncoder(b *testing.B) {
	h := head{id: "chatcmpl-1", created: 1_700_000_000, model: "m"}
	r := handlerstest.Replies()[0]
	encoder := newEncoder(h, &r.Request, true, &exchange.Exchange{})
	encoder.Encode(engine.Start{})
	b.ReportAllocs()
	for b.Loop() {
		encoder.Encode(engine.TextDelta{Text: " word"})
	}
}
