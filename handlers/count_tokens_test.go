package handlers_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/diglot/diglot/handlers"
)

// pixel is a PNG of one pixel, in base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mP4DwABAQEAHLCMmQAAAABJRU5ErkJggg=="

// TestCountTokens checks that a count is what the reply to the same request
// reports, plain and streamed, and that it is of the whole prompt: each body
// adds to the first.
func TestCountTokens(t *testing.T) {
	const (
		user  = `"messages":[{"role":"user","content":"How warm is it?"}]`
		tools = `"tools":[{"name":"f","description":"Says how warm it is.","input_schema":{"type":"object","properties":{"city":{"type":"string"}}}}]`
		call  = `{"role":"user","content":"How warm is it?"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{"city":"Oslo"}}]}`
	)
	tests := []struct{ name, members string }{
		{"a question", user},
		{"system", user + `,"system":"Be brief."`},
		{"system in blocks", user + `,"system":[{"type":"text","text":"Be brief."},{"type":"text","text":"Be kind.","cache_control":{"type":"ephemeral"}}]`},
		{"system in the middle", `"messages":[{"role":"user","content":"How warm is it?"},{"role":"system","content":"Be brief."}]`},
		{"a long talk", `"messages":[{"role":"user","content":"Hello there, how are you?"},{"role":"assistant","content":"Well."},{"role":"user","content":"How warm is it?"}]`},
		{"tools", user + "," + tools},
		{"tools: none", user + "," + tools + `,"tool_choice":{"type":"none"},"system":"Be brief."`},
		{"tools: any", `"messages":[{"role":"user","content":"Now call the tool."}],` + tools + `,"tool_choice":{"type":"any"}`},
		{"a result", `"messages":[` + call + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"12 degrees"}]}],` + tools},
		{"a failure in blocks", `"messages":[` + call + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","is_error":true,"content":[{"type":"text","text":"no such city"}]}]}],` + tools},
		{"thinking", user + `,"system":"Think.","thinking":{"type":"enabled","budget_tokens":1024}`},
		{"earlier thinking", `"messages":[` + call + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"I see.","signature":""},{"type":"text","text":"It is warm."}]},{"role":"user","content":"Why?"}]`},
		{"images", `"messages":[{"role":"user","content":[{"type":"text","text":"How warm is it here?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixel + `"}}]}]`},
		{"a schema", `"messages":[{"role":"user","content":"How warm is it? Give an object."}],"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}`},
	}
	h := newHandler(t, handlers.Config{Engine: openStorm(t)})
	least := 0
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := `{"model":"m",` + tt.members
			var count struct {
				InputTokens *int `json:"input_tokens"`
			}
			w := post(t, h, "/v1/messages/count_tokens", []byte(body+"}"))
			if err := json.Unmarshal(w.Body.Bytes(), &count); err != nil || w.Code != 200 || count.InputTokens == nil {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
			want := *count.InputTokens
			if least == 0 {
				least = want
			} else if want <= least {
				t.Errorf("counts %d tokens, and the first body has %d already", want, least)
			}
			whole := post(t, h, "/v1/messages", []byte(body+`,"max_tokens":50}`))
			var message struct {
				Usage struct {
					InputTokens int `json:"input_tokens"`
				} `json:"usage"`
			}
			if err := json.Unmarshal(whole.Body.Bytes(), &message); err != nil || whole.Code != 200 {
				t.Fatalf("message: status %d: %s", whole.Code, whole.Body)
			}
			if got := message.Usage.InputTokens; got != want {
				t.Errorf("the message reports %d, the count is %d", got, want)
			}
			streamed := post(t, h, "/v1/messages", []byte(body+`,"max_tokens":50,"stream":true}`))
			var start struct {
				Message struct {
					Usage struct {
						InputTokens int `json:"input_tokens"`
					} `json:"usage"`
				} `json:"message"`
			}
			_, data, _ := strings.Cut(streamed.Body.String(), "data: ")
			data, _, _ = strings.Cut(data, "\n")
			if err := json.Unmarshal([]byte(data), &start); err != nil {
				t.Fatalf("stream: %v\n%s", err, streamed.Body)
			}
			if got := start.Message.Usage.InputTokens; got != want {
				t.Errorf("the stream reports %d, the count is %d", got, want)
			}
		})
	}
}

// TestCountTokensFails checks that a count fails where the message would.
func TestCountTokensFails(t *testing.T) {
	h := newHandler(t, handlers.Config{Engine: playing(t, `models: {m: {context: 4, replies: [{pieces: [x]}]}, e: {embedding: 8}}`)})
	tests := []struct {
		name, body string
		status     int
		message    string
	}{
		{"too long", `{"model":"m","messages":[{"role":"user","content":"a b c d e"}]}`, 400, "prompt is too long: "},
		{"no such model", `{"model":"x","messages":[{"role":"user","content":"a"}]}`, 404, "model: "},
		{"a model without text", `{"model":"e","messages":[{"role":"user","content":"a"}]}`, 400, "model: "},
		{"no vision", `{"model":"m","messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixel + `"}}]}]}`, 400, "messages"},
		{"a result without a call", `{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]}]}`, 400, "messages.0.content.0.tool_use_id: "},
		{"no messages", `{"model":"m","messages":[]}`, 400, "messages: "},
		{"a thread", `{"model":"m","messages":[{"role":"user","content":"a"}],"thread":{"type":"create"}}`, 400, "thread: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := post(t, h, "/v1/messages/count_tokens", []byte(tt.body))
			e, style := errorOf(t, w.Body)
			if w.Code != tt.status || style != "anthropic" || !strings.HasPrefix(e.Message, tt.message) {
				t.Errorf("status %d in the %s style: %q; want %d, %q", w.Code, style, e.Message, tt.status, tt.message)
			}
			again := post(t, h, "/v1/messages", []byte(tt.body[:len(tt.body)-1]+`,"max_tokens":5}`))
			if want, _ := errorOf(t, again.Body); again.Code != w.Code || want.Message != e.Message {
				t.Errorf("the message fails otherwise: status %d, %q", again.Code, want.Message)
			}
		})
	}
}
