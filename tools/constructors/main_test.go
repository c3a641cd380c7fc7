package main

import (
	"os"
	"strings"
	"testing"

	"github.com/diglot/diglot/handlers/handlerstest"
)

// TestEditsOfADocument checks that each edit of the document shows in the generated code.
func TestEditsOfADocument(t *testing.T) {
	for _, tt := range []struct{ name, style, old, new, want string }{
		{"nothing", "openai", "How many independent answers to give.", "How many answers.", "\treturn 1\n}\n\n// ParallelToolCallsOrDefault"},
		{"a default of a request", "openai", "          default: 1\n          description: How many independent answers to give.", "          default: 2\n          description: How many independent answers to give.",
			"\treturn 2\n}\n\n// ParallelToolCallsOrDefault"},
		{"a default of a parameter", "anthropic", "maximum: 1000, default: 20", "maximum: 1000, default: 30", "\treturn 30\n"},
		{"a default of a reply", "openai", "          description: As in the request.\n          default: auto", "          description: As in the request.\n          default: none", "ToolChoice:         ResponseToolChoice{union: json.RawMessage(`\"none\"`)},"},
		{"an enum", "openai", "          description: What is in use; `disabled` also where the model is served elsewhere and cannot truncate.\n          default: disabled", "          description: What is in use; `disabled` also where the model is served elsewhere and cannot truncate.\n          default: auto", "Truncation:         ResponseTruncationAuto,"},
		{"a value that becomes the only one", "anthropic", "          minimum: 0\n          description: Place of the block in the message, from 0 and without gaps.", "          minimum: 0\n          maximum: 0\n          description: Place of the block.",
			"func NewContentBlockStartEvent(contentBlock ContentBlock) ContentBlockStartEvent {"},
		{"a member that becomes optional", "anthropic", "required: [type, index, delta]", "required: [type, delta]", "func NewContentBlockDeltaEvent(delta ContentBlockDelta) ContentBlockDeltaEvent {"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			types, err := os.ReadFile("../../gen/" + tt.style + "/" + tt.style + ".gen.go")
			if err != nil {
				t.Fatal(err)
			}
			code, err := generate(handlerstest.Edited(t, tt.style+".yaml", tt.old, tt.new), types)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(code), tt.want) {
				t.Errorf("the code lacks %s", tt.want)
			}
		})
	}
}

func TestParameterNames(t *testing.T) {
	for name, want := range map[string]string{"ID": "id", "ItemID": "itemID", "B64Json": "b64Json", "URLText": "urlText", "Type": "type_"} {
		if got := parameter(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
