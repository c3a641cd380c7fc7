package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/diglot/diglot/handlers"
)

// supportTest is what becomes of something that a client may send.
type supportTest struct {
	name, members string
	place         string // at which it is refused; empty: it is taken
	message       string // a part of the refusal
	ignored       string // what of it has no effect
}

func checkSupport(t *testing.T, path, base string, tests []supportTest) {
	t.Helper()
	h := newHandler(t, handlers.Config{Engine: openStorm(t), AllowImageHosts: []string{pictureHost}})
	for _, f := range tests {
		t.Run(f.name, func(t *testing.T) {
			w := post(t, h, path, []byte(`{"model":"m",`+base+f.members+"}"))
			if f.place == "" {
				if got := w.Header().Get("Diglot-Ignored"); w.Code != 200 || got != f.ignored {
					t.Errorf("status %d, ignored %q; want 200, %q\n%s", w.Code, got, f.ignored, w.Body)
				}
				return
			}
			e, style := errorOf(t, w.Body)
			place := text(e.Param)
			if style == "anthropic" {
				place, _, _ = strings.Cut(e.Message, ": ")
			}
			if w.Code != 400 || place != f.place || !strings.Contains(e.Message, f.message) {
				t.Errorf("status %d at %q: %q; want 400 at %q, %q", w.Code, place, e.Message, f.place, f.message)
			}
		})
	}
}

// TestMessageBlocks checks what becomes of every kind of block, of tool and of
// setting that clients of the Anthropic style send.
func TestMessageBlocks(t *testing.T) {
	user := func(blocks string) string {
		return `"messages":[{"role":"user","content":[{"type":"text","text":"u"},` + blocks + `]}]`
	}
	const called = `"messages":[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]},`
	result := func(members string) string {
		return called + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1"` + members + `}]}]`
	}
	assistant := func(blocks string) string {
		return `"messages":[{"role":"user","content":"u"},{"role":"assistant","content":[` + blocks + `]},{"role":"user","content":"v"}]`
	}
	tool := func(members string) string {
		return user(`{"type":"text","text":"v"}`) + `,"tools":[{` + members + `}]`
	}
	picture := `"source":{"type":"base64","media_type":"image/png","data":"` + pixel + `"}`
	const block = "messages.0.content.1"
	tests := []supportTest{
		{name: "text", members: user(`{"type":"text","text":""}`)},
		{name: "text with a mark for the cache", members: user(`{"type":"text","text":"v","cache_control":{"type":"ephemeral"}}`), ignored: "messages[].content[].cache_control"},
		{name: "text with citations", members: user(`{"type":"text","text":"v","citations":[{"type":"char_location"}]}`), ignored: "messages[].content[].citations"},
		{name: "image", members: user(`{"type":"image",` + picture + `}`)},
		{name: "image with a mark for the cache", members: user(`{"type":"image",` + picture + `,"cache_control":{"type":"ephemeral","ttl":"1h"}}`), ignored: "messages[].content[].cache_control"},
		{name: "image by URL", members: user(`{"type":"image","source":{"type":"url","url":"` + servePicture(t) + `"}}`)},
		{name: "image among files", members: user(`{"type":"image","source":{"type":"file","file_id":"x"}}`), place: block + ".source", message: "files are not stored"},
		{name: "image of a kind that is none", members: user(`{"type":"image","source":{"type":"base64","media_type":"image/svg+xml","data":"AAAA"}}`), place: block + ".source.media_type"},
		{name: "result of text", members: result(`,"content":"r"`)},
		{name: "result of blocks", members: result(`,"content":[{"type":"text","text":"r"},{"type":"image",` + picture + `}]`)},
		{name: "result of nothing", members: result(``)},
		{name: "failure", members: result(`,"content":"r","is_error":true`)},
		{name: "result of a document", members: result(`,"content":[{"type":"document","source":{}}]`), place: "messages.2.content.0.content.0", message: "type document"},
		{name: "result of a search", members: result(`,"content":[{"type":"search_result","source":"s","title":"t","content":[]}]`), place: "messages.2.content.0.content.0", message: "type search_result"},
		{name: "result of a tool search", members: result(`,"content":[{"type":"tool_reference","tool_name":"f"}]`), ignored: "messages[].content[].content[type=tool_reference]"},
		{name: "result of a browser", members: result(`,"content":[{"type":"text","text":"r"},{"type":"browser_state","tabs":[{"tab_id":"1","title":"","url":"","active":true}]}]`),
			ignored: "messages[].content[].content[type=browser_state]"},
		{name: "thinking", members: assistant(`{"type":"thinking","thinking":"t","signature":""},{"type":"text","text":"a"}`)},
		{name: "thinking without a signature", members: assistant(`{"type":"thinking","thinking":"t"},{"type":"text","text":"a"}`)},
		{name: "redacted thinking", members: assistant(`{"type":"redacted_thinking","data":"x"},{"type":"text","text":"a"}`), ignored: "messages[].content[type=redacted_thinking]"},
		{name: "document", members: user(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"}}`), place: block, message: "send the text of the document"},
		{name: "search result", members: user(`{"type":"search_result","source":"s","title":"t","content":[]}`), place: block, message: "send what was found as text"},
		{name: "unknown block", members: user(`{"type":"hologram"}`), place: block + ".type", message: `must be one of: text, image, tool_use, tool_result, thinking, compaction, fallback, tool_addition, tool_removal; "hologram" was sent`},
		{name: "what the service has made of earlier turns", members: assistant(`{"type":"compaction","content":"c","encrypted_content":null,"signature":"s"},{"type":"text","text":"a"}`)},
		{name: "how earlier turns have changed the tools", members: assistant(`{"type":"compaction","content":"c","tool_changes":[{"type":"tool_removal","tool":{"type":"tool_reference","name":"f"}}]}`)},
		{name: "a place behind blocks without effect", members: assistant(`{"type":"server_tool_use"},{"type":"redacted_thinking","data":"x"},{"type":"image",` + picture + `}`), place: "messages.1.content.2", message: "cannot hold a block of type image"},
		{name: "block without a type", members: user(`{"text":"v"}`), place: block + ".type"},

		{name: "tool", members: tool(`"name":"f","input_schema":{"type":"object"}`)},
		{name: "tool by its type", members: tool(`"name":"f","type":"custom","input_schema":{"type":"object"},"strict":true`)},
		{name: "tool by no type", members: tool(`"name":"f","type":null,"input_schema":{"type":"object"}`)},
		{name: "tools of the service", members: tool(`"name":"web_search","type":"web_search_20250305","max_uses":3},{"type":"mcp_toolset","mcp_server_name":"x"},{"name":"bash","type":"bash_20250124"`),
			ignored: "tools[type=bash_20250124], tools[type=mcp_toolset], tools[type=web_search_20250305]"},
		{name: "the choice of one", members: tool(`"name":"web_search","type":"web_search_20250305"},{"name":"f","input_schema":{"type":"object"}`) + `,"tool_choice":{"type":"tool","name":"web_search"}`,
			place: "tool_choice.name", message: "none named 'web_search' that the client runs"},
		{name: "the choice of the only one", members: tool(`"name":"web_search","type":"web_search_20250305"`) + `,"tool_choice":{"type":"tool","name":"web_search"}`,
			place: "tool_choice.name", message: "none named 'web_search' that the client runs"},
		{name: "the choice of any, and only the service has some", members: tool(`"name":"web_search","type":"web_search_20250305"`) + `,"tool_choice":{"type":"any"}`,
			place: "tool_choice", message: "no tools that the client runs"},
		{name: "a place behind tools of the service", members: tool(`"type":"mcp_toolset"},{"name":"f","input_schema":{}},{"type":"mcp_toolset"},{"name":"f","input_schema":{}`), place: "tools.3.name", message: "There are two named 'f'"},
		{name: "a schema behind tools of the service", members: tool(`"type":"mcp_toolset"},{"name":"f","input_schema":{"type":"object","properties":{"a":{"type":"nothing"}}}`), place: "tools.1.input_schema.properties.a"},
		{name: "servers of tools", members: user(`{"type":"text","text":""}`) + `,"mcp_servers":[{"type":"url","name":"x","url":"https://x"}]`, ignored: "mcp_servers"},
		{name: "the older name of the format", members: user(`{"type":"text","text":""}`) + `,"output_format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"nothing"}}}}`,
			place: "output_format.schema.properties.a"},
		{name: "the older name beside the newer", members: user(`{"type":"text","text":""}`) + `,"output_format":{"type":"json_schema","schema":{}},"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"nothing"}}}}}`,
			place: "output_config.format.schema.properties.a"},
		{name: "what else a tool may have", members: tool(`"name":"f","input_schema":{"type":"object"},"eager_input_streaming":true,"defer_loading":true,"input_examples":[{}],"cache_control":{"type":"ephemeral"}`),
			ignored: "tools[].cache_control, tools[].defer_loading, tools[].eager_input_streaming, tools[].input_examples"},

		{name: "thinking: enabled", members: user(`{"type":"text","text":""}`) + `,"thinking":{"type":"enabled","budget_tokens":1024}`, ignored: "thinking.budget_tokens"},
		{name: "thinking: adaptive", members: user(`{"type":"text","text":""}`) + `,"thinking":{"type":"adaptive","display":"omitted"}`, ignored: "thinking.display"},
		{name: "what has nothing to do", members: user(`{"type":"text","text":""}`) + `,"metadata":{"user_id":"u"},"service_tier":"auto","speed":"fast","container":"c","context_management":{},"inference_geo":"us","fallbacks":[{"model":"n"}]`,
			ignored: "container, context_management, fallbacks, inference_geo, metadata, service_tier, speed"},
	}
	for _, kind := range []string{"server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result",
		"text_editor_code_execution_tool_result", "tool_search_tool_result", "mcp_tool_use", "mcp_tool_result", "mcp_tool_listing", "advisor_tool_result", "container_upload"} {
		left := "messages[].content[type=" + kind + "]"
		tests = append(tests,
			supportTest{name: kind, members: assistant(fmt.Sprintf(`{"type":"text","text":"a"},{"type":%q,"id":"srvtoolu_1","content":[{}]},{"type":"text","text":"b"}`, kind)), ignored: left},
			supportTest{name: kind + " alone", members: assistant(fmt.Sprintf(`{"type":%q}`, kind)), ignored: left})
	}
	checkSupport(t, "/v1/messages", `"max_tokens":8,`, tests)
}

// TestSystemMessages checks what becomes of messages that are instructions, and of roles.
func TestSystemMessages(t *testing.T) {
	tools := func(blocks string) string {
		return `"messages":[{"role":"user","content":"u"},{"role":"system","content":[` + blocks + `]}]`
	}
	checkSupport(t, "/v1/messages", `"max_tokens":8,`, []supportTest{
		{name: "a system message in between", members: `"messages":[{"role":"user","content":"u"},{"role":"system","content":"s"},{"role":"user","content":"v"}]`},
		{name: "a system message of settings", members: `"messages":[{"role":"user","content":"u"},{"role":"system","output_config":{"effort":"low"}},{"role":"system"},{"role":"system","content":null,"clear_at":null,"output_config":null}]`, ignored: "messages[].output_config.effort"},
		{name: "a system message of tools", members: tools(`{"type":"tool_addition","tool":{"type":"tool_reference","name":"f"}},{"type":"tool_removal","tool":{"type":"tool_reference","name":"g"}}`)},
		{name: "tools of the service that come and go", members: tools(`{"type":"tool_addition","tool":{"type":"mcp_toolset_reference","server_name":"x"}},{"type":"tool_removal","tool":{"type":"tool_definition","definition":{"type":"mcp_toolset"}}}`),
			ignored: "messages[].content[].tool, messages[].content[].tool.definition"},
		{name: "a place behind a tool that has gone", members: tools(`{"type":"tool_removal","tool":{"type":"tool_reference","name":"f"}}`) + `,"tools":[{"name":"f","input_schema":{}},{"type":"mcp_toolset"},{"name":"g","input_schema":{"type":"object","properties":{"a":{"type":"nothing"}}}}]`,
			place: "tools.2.input_schema.properties.a"},
		{name: "a place in a tool that has come", members: tools(`{"type":"redacted_thinking","data":"x"},{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"h","input_schema":{"type":"object","properties":{"a":{"type":"nothing"}}}}}}`),
			place: "messages.1.content.1.tool.definition.input_schema.properties.a"},
		{name: "a tool that comes by no name", members: tools(`{"type":"tool_addition","tool":{"type":"tool_reference"}}`), place: "messages.1.content.0.tool.name", message: "is required"},
		{name: "a system message for another time", members: `"messages":[{"role":"user","content":"u"},{"role":"system","content":"s","clear_at":"tomorrow"}]`, place: "messages.1.clear_at", message: "never, next_user_message"},
		{name: "a user's message without content", members: `"messages":[{"role":"user"}]`, place: "messages.0.content", message: "is required"},
		{name: "a message of no role", members: `"messages":[{"content":"u"}]`, place: "messages.0.role", message: "is required"},
		{name: "a message of another role", members: `"messages":[{"role":"tool","content":"u"}]`, place: "messages.0.role", message: `must be one of: assistant, user, system; "tool" was sent`},
	})
}

// TestOtherAnswers checks what becomes of answers by another model, of requests for a
// summary, and of stored conversations.
func TestOtherAnswers(t *testing.T) {
	checkSupport(t, "/v1/messages", `"max_tokens":8,`, []supportTest{
		{name: "the service's own choice of another model", members: `"messages":[{"role":"user","content":"u"}],"fallbacks":"default"`, ignored: "fallbacks"},
		{name: "where another model went on", members: `"messages":[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"fallback","from":{"model":"m"},"to":{"model":"n"},"trigger":{"type":"refusal"}},{"type":"text","text":"b"}]},{"role":"user","content":"v"}]`},
		{name: "a summary instead of an answer", members: `"messages":[{"role":"user","content":"u"}],"compaction":{"type":"summarize"}`, place: "compaction", message: "ask the model for a summary"},
		{name: "a thread", members: `"messages":[{"role":"user","content":"u"}],"thread":{"type":"create"}`, place: "thread"},
	})
}

// TestChatMembers checks what becomes of what clients of the OpenAI style send
// beside the usual.
func TestChatMembers(t *testing.T) {
	const user = `"messages":[{"role":"user","content":"u"}],`
	const function = `{"type":"function","function":{"name":"f"}}`
	part := func(part string) string { return `"messages":[{"role":"user","content":[` + part + `]}]` }
	assistant := func(members string) string {
		return `"messages":[{"role":"user","content":"u"},{"role":"assistant",` + members + `},{"role":"user","content":"v"}]`
	}
	checkSupport(t, "/v1/chat/completions", "", []supportTest{
		{name: "developer", members: `"messages":[{"role":"developer","content":"d"},{"role":"user","content":"u"}]`},
		{name: "both limits", members: user + `"max_tokens":1,"max_completion_tokens":2`},
		{name: "effort", members: user + `"reasoning_effort":"high"`},
		{name: "length", members: user + `"verbosity":"low"`, ignored: "verbosity"},
		{name: "a prediction", members: user + `"prediction":{"type":"content","content":"x"}`, ignored: "prediction"},
		{name: "what has nothing to do", members: user + `"service_tier":"flex","store":true,"metadata":{"a":"b"},"user":"u","safety_identifier":"s","prompt_cache_key":"k"`,
			ignored: "metadata, prompt_cache_key, safety_identifier, service_tier, store, user"},
		{name: "text as modality", members: user + `"modalities":["text"]`},
		{name: "speech as modality", members: user + `"modalities":["text","audio"]`, place: "modalities[1]", message: "text only"},
		{name: "a voice", members: user + `"audio":{"voice":"v","format":"wav"}`, place: "audio", message: "text only"},
		{name: "no voice", members: user + `"audio":null`},
		{name: "sound", members: part(`{"type":"input_audio","input_audio":{"data":"","format":"wav"}}`), place: "messages[0].content[0]", message: "input_audio"},
		{name: "a file", members: part(`{"type":"file","file":{"file_id":"x"}}`), place: "messages[0].content[0]", message: "type file"},
		{name: "an image", members: part(`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + pixel + `","detail":"high"}}`), ignored: "messages[].content[].image_url.detail"},
		{name: "earlier sound", members: assistant(`"audio":{"id":"x"}`), place: "messages[1].audio", message: "no earlier audio"},
		{name: "a refusal", members: assistant(`"content":null,"refusal":"no"`)},
		{name: "a refusal as a part", members: assistant(`"content":[{"type":"refusal","refusal":"no"}]`)},
		{name: "allowed tools", members: user + `"tools":[` + function + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[` + function + `]}}`},
		{name: "an allowed tool that is not there", members: user + `"tools":[` + function + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"g"}}]}}`,
			place: "tool_choice", message: "'g'"},
		{name: "a custom tool", members: user + `"tools":[{"type":"custom","custom":{"name":"c"}}]`, place: "tools[0]", message: "Custom tools are not offered"},
		{name: "the choice of one", members: user + `"tools":[` + function + `],"tool_choice":{"type":"custom","custom":{"name":"c"}}`, place: "tool_choice", message: "Custom tools are not offered"},
		{name: "an earlier call of one", members: assistant(`"tool_calls":[{"id":"1","type":"custom","custom":{"name":"c","input":"i"}}]`), place: "messages[1].tool_calls[0]", message: "Custom tools are not offered"},
		{name: "a search", members: user + `"web_search_options":{}`, place: "web_search_options", message: "no web search"},
		{name: "an unknown member", members: user + `"logit_biases":{}`, ignored: "logit_biases"},
		{name: "a member without a name", members: user + `"":1,"é":2`, ignored: "?, %C3%A9"},
		{name: "an unknown part", members: part(`{"type":"video","video":{}}`), place: "messages[0].content[0].type", message: `; "video" was sent`},
		{name: "an unknown role", members: `"messages":[{"role":"ipython","content":"u"}]`, place: "messages[0].role", message: `; "ipython" was sent`},
		{name: "an unknown kind of tool", members: user + `"tools":[{"type":"web_search"}]`, place: "tools[0].type", message: `; "web_search" was sent`},
		{name: "an unknown format", members: user + `"response_format":{"type":"` + strings.Repeat("x", 100) + `"}`, place: "response_format.type", message: `; "` + strings.Repeat("x", 60) + `…" was sent`},
		{name: "an unknown effort", members: user + `"reasoning_effort":"huge"`, place: "reasoning_effort", message: `; "huge" was sent`},
		{name: "options of a stream without one", members: user + `"stream_options":{"include_usage":true}`, ignored: "stream_options"},
		{name: "options of no stream", members: user + `"stream":false,"stream_options":{}`, ignored: "stream_options"},
		{name: "options of a stream", members: user + `"stream":true,"stream_options":{"include_usage":true}`},
	})
}
