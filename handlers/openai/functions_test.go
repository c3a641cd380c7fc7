package openai

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/handlers/internal/exchange"
)

func TestFunctions(t *testing.T) {
	const (
		functions = `"functions":[{"name":"f"},{"name":"g"}]`
		call      = `{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"a\": <1>"}}`
	)
	single := engine.ToolChoice{Single: true}
	called := func(id, name string) engine.Message {
		return engine.Message{Role: engine.RoleAssistant, Parts: []engine.Part{engine.ToolCall{ID: id, Name: name, Arguments: `{"a": <1>`}}}
	}
	answered := func(id, name, text string) engine.Message {
		return engine.Message{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: id, Name: name, Parts: []engine.Part{engine.Text{Text: text}}}}}
	}
	checkMappings(t, []handlerstest.Mapping{
		{Name: "auto by absence", Body: user + "," + functions, Want: engine.Request{Tools: both, ToolChoice: single}},
		{Name: "auto", Body: user + "," + functions + `,"function_call":"auto"`, Want: engine.Request{Tools: both, ToolChoice: single}},
		{Name: "none", Body: user + "," + functions + `,"function_call":"none"`,
			Want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolNone, Single: true}}},
		{Name: "named", Body: user + "," + functions + `,"function_call":{"name":"g"}`,
			Want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolRequired, Names: []string{"g"}, Single: true}}},
		{Name: "with all that they have", Body: user + `,"functions":[{"name":"f","description":"d","parameters":{"b":1e999}}],"tools":null,"tool_choice":null`,
			Want: engine.Request{Tools: []engine.Tool{{Name: "f", Description: "d", Parameters: []byte(`{"b":1e999}`)}}, ToolChoice: single}},
		{Name: "none of them", Body: user + `,"functions":[],"function_call":null`},
		{Name: "none of them, and no call", Body: user + `,"function_call":"none"`},
		{Name: "tools, and a setting without functions", Body: user + "," + tools + `,"function_call":"auto"`, Want: engine.Request{Tools: both}},
		{Name: "an unknown name", Body: user + "," + functions + `,"function_call":{"name":"x"}`, Param: "function_call"},
		{Name: "a name without functions", Body: user + "," + tools + `,"function_call":{"name":"f"}`, Param: "function_call"},
		{Name: "a name twice", Body: user + `,"functions":[{"name":"f"},{"name":"f"}]`, Param: "functions[1].name"},
		{Name: "beside tools", Body: user + "," + tools + "," + functions, Param: "functions"},
		{Name: "with the setting of tools", Body: user + "," + functions + `,"tool_choice":"none"`, Param: "tool_choice"},

		{Name: "a call and its result", Body: `"messages":[` + call + `,{"role":"function","name":"f","content":"r"}]`,
			Want: engine.Request{Messages: []engine.Message{called("function0", "f"), answered("function0", "f", "r")}}},
		{Name: "a result of null", Body: `"messages":[` + call + `,{"role":"function","name":"f","content":null}]`,
			Want: engine.Request{Messages: []engine.Message{called("function0", "f"), answered("function0", "f", "")}}},
		{Name: "the same again", Body: `"messages":[` + call + `,{"role":"function","name":"f","content":"1"},` + call + `,{"role":"function","name":"f","content":"2"}]`,
			Want: engine.Request{Messages: []engine.Message{called("function0", "f"), answered("function0", "f", "1"), called("function1", "f"), answered("function1", "f", "2")}}},
		{Name: "two in a row", Body: `"messages":[` + call + "," + strings.Replace(call, `"f"`, `"g"`, 1) + `,{"role":"function","name":"f","content":"1"},{"role":"function","name":"g","content":"2"}]`,
			Want: engine.Request{Messages: []engine.Message{called("function0", "f"), called("function1", "g"), answered("function0", "f", "1"), answered("function1", "g", "2")}}},
		{Name: "text beside a call", Body: `"messages":[{"role":"assistant","content":"a","function_call":{"name":"f","arguments":"{}"}}]`,
			Want: engine.Request{Messages: []engine.Message{{Role: engine.RoleAssistant, Parts: []engine.Part{engine.Text{Text: "a"}, engine.ToolCall{ID: "function0", Name: "f", Arguments: "{}"}}}}}},
		{Name: "a result without a call", Body: `"messages":[{"role":"function","name":"f","content":"r"}]`, Param: "messages[0].name"},
		{Name: "a result of another", Body: `"messages":[` + call + `,{"role":"function","name":"g","content":"r"}]`, Param: "messages[1].name"},
	})
}

// TestFunctionReplies encodes answers with at most one call for clients with functions.
func TestFunctionReplies(t *testing.T) {
	h := head{id: "chatcmpl-1", created: 1_700_000_000, model: "m"}
	for _, r := range handlerstest.Replies() {
		calls := 0
		r.Events = slices.DeleteFunc(r.Events, func(event engine.Event) bool {
			if start, ok := event.(engine.BlockStart); ok && start.Kind == engine.BlockToolCall {
				calls++
			}
			_, finish := event.(engine.Finish)
			_, done := event.(engine.Done)
			return calls > 1 && !finish && !done
		})
		if calls == 0 {
			continue // as with tools
		}
		t.Run(r.Name, func(t *testing.T) {
			var stream strings.Builder
			encoder := functionDialect.encoder(newEncoder(h, &r.Request, false, &exchange.Exchange{}))
			for _, event := range r.Events {
				for _, f := range encoder.Encode(event) {
					stream.Write(f.Append(nil))
				}
			}
			handlerstest.Golden(t, update, "functions/"+r.Name+".stream.txt", stream.String())

			response, err := engine.Collect((&handlerstest.Engine{Events: r.Events}).Generate(t.Context(), &r.Request))
			if err != nil {
				t.Fatal(err)
			}
			out := fromResponse(h, response, false)
			functionDialect.whole(&out)
			w := httptest.NewRecorder()
			if err := (answer{&exchange.Exchange{}, out}).VisitCreateChatCompletionResponse(w); err != nil {
				t.Fatal(err)
			}
			handlerstest.Golden(t, update, "functions/"+r.Name+".json", w.Body.String())
		})
	}
}
