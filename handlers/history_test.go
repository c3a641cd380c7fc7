package handlers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// TestHistoryWithLess sends replies back like clients that keep only a part: each field is
// left out once, and once null. Only what is needed to know what was said is then an error.
func TestHistoryWithLess(t *testing.T) {
	tests := []struct {
		name, path, first string
		answer            func(reply map[string]any) any // what of a reply goes into the history
		next              string                         // the request that has it, with the answer for %s
		needed            []string
	}{
		{"chat", "/v1/chat/completions", chatBody,
			func(reply map[string]any) any { return reply["choices"].([]any)[0].(map[string]any)["message"] },
			`{"model":"m","messages":[{"role":"user","content":"u"},%s,{"role":"tool","tool_call_id":"call_a1","content":"r"},{"role":"tool","tool_call_id":"call_b2","content":"r"}]}`,
			[]string{".role", ".tool_calls", ".tool_calls[].id", ".tool_calls[].function", ".tool_calls[].function.name"}},
		{"responses", "/v1/responses", `{"model":"m","input":"u"}`,
			func(reply map[string]any) any { return reply["output"] },
			`{"model":"m","input":[{"role":"user","content":"u"},%s,{"type":"function_call_output","call_id":"call_a1","output":"r"},{"type":"function_call_output","call_id":"call_b2","output":"r"}]}`,
			[]string{"[reasoning].type", "[reasoning].content[].type", "[reasoning].content[].text", "[message].role", "[message].content", "[message].content[].type",
				"[message].content[].text", "[function_call].type", "[function_call].call_id", "[function_call].name"}},
		{"messages", "/v1/messages", messagesBody,
			func(reply map[string]any) any {
				return map[string]any{"role": reply["role"], "content": reply["content"]}
			},
			`{"model":"m","max_tokens":8,"messages":[{"role":"user","content":"u"},%s,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_a1"},{"type":"tool_result","tool_use_id":"toolu_b2"}]}]}`,
			[]string{".role", ".content", ".content[thinking].type", ".content[thinking].thinking", ".content[text].type", ".content[text].text",
				".content[tool_use].type", ".content[tool_use].id", ".content[tool_use].name"}},
	}
	i := slices.IndexFunc(handlerstest.Replies(), func(r handlerstest.Reply) bool { return r.Name == "reasoning_text_calls" })
	h := newHandler(t, handlers.Config{Engine: &handlerstest.Engine{Name: "m", Events: handlerstest.Replies()[i].Events}})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var reply map[string]any
			if w := post(t, h, tt.path, []byte(tt.first)); json.Unmarshal(w.Body.Bytes(), &reply) != nil {
				t.Fatalf("status %d\n%s", w.Code, w.Body)
			}
			history := tt.answer(reply)
			send := func(what, name string, status int) {
				text, err := json.Marshal(history)
				if err != nil {
					t.Fatal(err)
				}
				if w := post(t, h, tt.path, fmt.Appendf(nil, tt.next, strings.Trim(string(text), "[]"))); w.Code != status {
					t.Errorf("%s %s: status %d, want %d\n%s\n%s", name, what, w.Code, status, text, w.Body)
				}
			}
			send("whole", "the answer", 200)
			missed := map[string]bool{}
			eachMember("", history, func(name string, object map[string]any, member string) {
				status, value := 200, object[member]
				if slices.Contains(tt.needed, name) {
					status, missed[name] = 400, true
				}
				delete(object, member)
				send("absent", name, status)
				object[member] = nil
				send("null", name, status)
				object[member] = value
			})
			if len(missed) != len(tt.needed) {
				t.Errorf("of %v, the reply has only %v", tt.needed, slices.Sorted(maps.Keys(missed)))
			}
		})
	}
}

// eachMember visits the fields of all objects in a value; array items are named by their
// types.
func eachMember(name string, value any, visit func(name string, object map[string]any, member string)) {
	switch v := value.(type) {
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			visit(name+"."+member, v, member)
			if member != "input" { // a client's own
				eachMember(name+"."+member, v[member], visit)
			}
		}
	case []any:
		for _, item := range v {
			kind := ""
			if object, ok := item.(map[string]any); ok && (name == "" || name == ".content") {
				kind = fmt.Sprint(object["type"])
			}
			eachMember(name+"["+kind+"]", item, visit)
		}
	}
}
