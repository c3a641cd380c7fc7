package handlerstest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// streams are one answer, thought "hm", text "Hi", a call of f, in every
// style that can say it.
var streams = map[string]string{
	"chat": `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}

data: {"choices":[{"index":0,"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}

data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

`,
	"completions": `data: {"choices":[{"index":0,"text":"H"}]}

data: {"choices":[{"index":0,"text":"i"}]}

data: {"choices":[{"index":0,"text":"","finish_reason":"stop"}]}

data: [DONE]

`,
	"responses": `event: response.output_item.added
data: {"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","content":[]}}

event: response.reasoning_text.delta
data: {"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"hm"}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":1,"item":{"type":"message","content":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"Hi"}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","call_id":"1","name":"f","arguments":""}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","output_index":2,"delta":"{}"}

event: response.completed
data: {"type":"response.completed","response":{"status":"stop"}}

`,
	"messages": `event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hi"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"1","name":"f","input":{}}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"stop"}}

event: message_stop
data: {"type":"message_stop"}

`,
}

// TestFolds checks that every fold reads its stream, and fails if a frame is lost, repeated
// or changed.
func TestFolds(t *testing.T) {
	full := []Answer{{Finish: "stop", Blocks: []AnswerBlock{
		{Kind: engine.BlockReasoning, Text: "hm"},
		{Kind: engine.BlockText, Text: "Hi"},
		{Kind: engine.BlockToolCall, ID: "1", Name: "f", Text: "{}"},
	}}}
	flat := []Answer{{Finish: "stop", Blocks: []AnswerBlock{{Kind: engine.BlockText, Text: "Hi"}}}}
	for _, g := range Generations() {
		t.Run(g.Name, func(t *testing.T) {
			want := full
			if !g.Structure {
				want = flat
			}
			got, err := g.Fold([]byte(streams[g.Name]))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("-want +got\n%s", diff)
			}
			for name, damaged := range damage(streams[g.Name]) {
				if got, err := g.Fold([]byte(damaged)); err == nil && cmp.Equal(want, got) {
					t.Errorf("%s: not noticed\n%s", name, damaged)
				}
			}
		})
	}
}

func damage(stream string) map[string]string {
	all := map[string]string{"another text": strings.Replace(stream, `i"`, `o"`, 1)}
	frames := strings.SplitAfter(strings.TrimSuffix(stream, "\n\n"), "\n\n")
	for i, frame := range frames {
		join := func(middle ...string) string {
			list := append(append(append([]string{}, frames[:i]...), middle...), frames[i+1:]...)
			return strings.TrimSuffix(strings.Join(list, ""), "\n\n") + "\n\n"
		}
		all[fmt.Sprintf("frame %d lost", i)] = join()
		if !strings.Contains(frame, "message_delta") && !strings.Contains(frame, "response.completed") && !strings.Contains(frame, "message_stop") {
			all[fmt.Sprintf("frame %d twice", i)] = join(frame, strings.TrimSuffix(frame, "\n\n")+"\n\n")
		}
	}
	return all
}
