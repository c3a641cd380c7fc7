package handlers_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
)

// thoughtful is an answer with everything that the marks here concern.
var thoughtful = []engine.Event{
	engine.Start{PromptTokens: 3},
	engine.BlockStart{Kind: engine.BlockReasoning},
	engine.ReasoningDelta{Text: "hm"},
	engine.BlockStop{},
	engine.BlockStart{Index: 1, Kind: engine.BlockText},
	engine.TextDelta{Index: 1, Text: "x"},
	engine.BlockStop{Index: 1},
	engine.Finish{Reason: engine.FinishMaxTokens},
	engine.Done{Usage: engine.Usage{PromptTokens: 3, CompletionTokens: 2, ReasoningTokens: 1}},
}

// TestMarksChangeReplies marks parts of replies in a copy of a document: the profile's
// reply follows, streamed and not, and fits the narrowed copy.
func TestMarksChangeReplies(t *testing.T) {
	const mark = "x-support: {document: unsupported}"
	for _, tt := range []struct {
		name, file, old, new string
		path                 string
		whole, stream        string // of the reply of the document profile
		lacks                string // which that of the other has
	}{
		{"a value", "openai.yaml", "enum: [stop, length, tool_calls, function_call]",
			"enum: [stop, length, tool_calls, function_call]\n      x-support-values: {length: {document: unsupported, instead: stop}}",
			"/v1/chat/completions", `"finish_reason":"stop"`, `"finish_reason":"stop"`, `"length"`},
		{"a value, in the other style", "anthropic.yaml", "      x-support-values:\n", "      x-support-values:\n        max_tokens: {document: unsupported, instead: end_turn}\n",
			"/v1/messages", `"stop_reason":"end_turn"`, `"stop_reason":"end_turn"`, `"max_tokens"`},
		{"a member of a reply", "openai.yaml", "description: What the model thought before it answered; absent if it did not.\n          x-support: {document: extension}",
			"description: What the model thought before it answered; absent if it did not.\n          " + mark,
			"/v1/chat/completions", `"refusal":null,"reasoning":"hm"`, ``, ``},
		{"a member of an event", "openai.yaml", "description: More of what the model thinks before it answers.\n          x-support: {document: extension}",
			"description: More of what the model thinks before it answers.\n          " + mark,
			"/v1/chat/completions", ``, `"delta":{"reasoning":"hm"}`, ``},
		{"a member of a union", "anthropic.yaml", "description: What the model thought before it went on.\n", "description: What the model thought before it went on.\n      " + mark + "\n",
			"/v1/messages", `"content":[{"type":"text","text":"x"}]`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `hm`},
		{"a member of a union, in the other style", "openai.yaml", "description: What the model thought.\n      required: [id", "description: What the model thought.\n      " + mark + "\n      required: [id",
			"/v1/responses", `"output":[{"id":"msg_`, `"output_index":0,"item":{"id":"msg_`, `hm`},
		{"an item of a list", "openai.yaml", "description: The vector of one input.\n", "description: The vector of one input.\n      " + mark + "\n",
			"/v1/embeddings", `"data":[]`, `"data":[]`, `"index":0`},
		{"an event with a number", "openai.yaml", "x-event-name: created\n", "x-event-name: created\n      " + mark + "\n",
			"/v1/responses", ``, `{"type":"response.in_progress","sequence_number":0,`, ``},
		{"an event with a number, in between", "openai.yaml", "x-event-name: content_part_added\n", "x-event-name: content_part_added\n      " + mark + "\n",
			"/v1/responses", ``, `{"type":"response.reasoning_text.delta","sequence_number":3,`, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			own, err := openapi.Embedded()
			if err != nil {
				t.Fatal(err)
			}
			if tt.file == "openai.yaml" {
				own.OpenAI = handlerstest.Edited(t, tt.file, tt.old, tt.new)
			} else {
				own.Anthropic = handlerstest.Edited(t, tt.file, tt.old, tt.new)
			}
			for _, stream := range []bool{false, true} {
				want := map[bool]string{false: tt.whole, true: tt.stream}[stream]
				e := &handlerstest.Engine{Name: "m", Events: thoughtful}
				body := fmt.Sprintf(`{"model":"m","max_tokens":8,"messages":[{"role":"user","content":"u"}],"input":"u","stream":%t}`, stream)
				usual := post(t, newHandler(t, handlers.Config{Engine: e, Documents: own}), tt.path, []byte(body)).Body.String()
				narrowed := post(t, newHandler(t, handlers.Config{Engine: e, Documents: own, Profile: openapi.ProfileDocument}), tt.path, []byte(body)).Body.String()
				if !strings.Contains(narrowed, want) || strings.Contains(usual, want) && want != "" {
					t.Errorf("stream %t: the document profile alone says %s\n%s\n%s", stream, want, narrowed, usual)
				}
				if strings.Contains(narrowed, tt.lacks) && tt.lacks != "" || !strings.Contains(usual, tt.lacks) {
					t.Errorf("stream %t: the other profile alone says %s\n%s\n%s", stream, tt.lacks, narrowed, usual)
				}
			}
		})
	}
}

// TestMarkedErrorEvent checks that a stream is cut off where a document has no event
// for errors.
func TestMarkedErrorEvent(t *testing.T) {
	own, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	own.OpenAI = handlerstest.Edited(t, "openai.yaml", "description: An event that ends a stream which failed.\n      x-event-name: error\n      required: [data]\n      properties:\n        data:\n          type: string\n          description: The error, as JSON.\n",
		"description: An event that ends a stream which failed.\n      x-support: {document: unsupported}\n      x-event-name: error\n      required: [data]\n      properties:\n        data:\n          type: string\n          description: The error, as JSON.\n")
	e := &handlerstest.Engine{Name: "m", Events: thoughtful[:6], Err: errors.New("secret")}
	for _, profile := range []openapi.Profile{openapi.ProfileDefault, openapi.ProfileDocument} {
		_, aborted := stream(t, newHandler(t, handlers.Config{Engine: e, Documents: own, Profile: profile}), styles[0].path, styles[0].stream)
		if aborted != (profile == openapi.ProfileDocument) {
			t.Errorf("profile %s: aborted %t", profile, aborted)
		}
	}
}

// TestOneDocument holds that a server that is given one of the documents has the
// other of its own.
func TestOneDocument(t *testing.T) {
	own, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, documents := range []openapi.Documents{{OpenAI: own.OpenAI}, {Anthropic: own.Anthropic}} {
		h, err := handlers.New(handlers.Config{Engine: &handlerstest.Engine{Name: "m"}, Log: slog.New(slog.DiscardHandler), Documents: documents})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range styles {
			if w := ask(t, h, "GET", s.path, nil); w.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s with the documents %v: status %d", s.path, documents, w.Code)
			}
		}
	}
}

// TestPathsAreTheDocuments adds paths to a copy of a document. The style of a request, the
// suggested path and the refusals follow.
func TestPathsAreTheDocuments(t *testing.T) {
	own, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	own.Anthropic = handlerstest.Edited(t, "anthropic.yaml", "  /v1/messages/batches:\n", `  /v1/skills/{skill}/versions/{version}:
    get:
      operationId: retrieveSkillVersion
      summary: Retrieve a version
      description: Would describe a version of a skill.
      parameters:
        - {name: skill, in: path, required: true, description: Its name., schema: {type: string}}
        - {name: version, in: path, required: true, description: Its name., schema: {type: string}}
      x-support: {document: unsupported, server: refused, note: There are no skills.}
      responses:
        '404': {$ref: '#/components/responses/NotFound'}

  /v1/messages/batches:
`)
	h := newHandler(t, handlers.Config{Documents: own})
	for _, tt := range []struct{ path, style, message string }{
		{"/v1/skills/a/versions/b", "anthropic", "No such path: /v1/skills/a/versions/b. There are no skills."},
		{"/v1/skills/a/versions/b/c", "anthropic", "There are no skills."},
		{"/v1/skills/a", "anthropic", "No such path: /v1/skills/a."},
		{"/skills/a", "anthropic", "Did you mean /v1/skills/a?"},
		{"/v1/v1/skills", "anthropic", "Did you mean /v1/skills?"},
		{"/v1/skill", "openai", "No such path: /v1/skill."},
	} {
		e, style := errorOf(t, ask(t, h, "GET", tt.path, nil).Body)
		if style != tt.style || !strings.Contains(e.Message, tt.message) {
			t.Errorf("%s: %q in the %s style, want %q in the %s style", tt.path, e.Message, style, tt.message, tt.style)
		}
	}
	for _, path := range []string{"/v1/skills/a", "/skills/a"} {
		if _, style := errorOf(t, ask(t, newHandler(t, handlers.Config{}), "GET", path, nil).Body); style != "openai" {
			t.Errorf("%s is in the %s style without the edit", path, style)
		}
	}
}
