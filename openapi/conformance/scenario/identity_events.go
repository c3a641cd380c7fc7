package scenario

import (
	"strings"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// blockIndexes follows the blocks of an answer of text and of one that calls a tool.
func blockIndexes(t *conformance.Trial, d dialect.Dialect) {
	for _, r := range []dialect.Request{dialect.Greedy(t.Models.Text, "Hello", 4), switching(t)} {
		a := d.Ask(t, streamed(r))
		next, open := 0, false
		for _, event := range events(t, a.Exchange) {
			index := event.Count("index")
			switch kind := event.Text("type"); kind {
			case "content_block_start":
				if open || index != next {
					t.Errorf(a.Exchange, "content_block_start has index %d, want %d, after the block before it has ended", index, next)
				}
				open = true
			case "content_block_delta", "content_block_stop":
				if !open || index != next {
					t.Errorf(a.Exchange, "%s has index %d, and the open block %d", kind, index, next)
				}
				if kind == "content_block_stop" {
					open, next = false, next+1
				}
			case "message_delta", "message_stop":
				if open {
					t.Errorf(a.Exchange, "%s comes before block %d has ended", kind, next)
				}
			}
		}
	}
}

func sequenceNumbers(t *conformance.Trial, d dialect.Dialect) {
	for _, r := range []dialect.Request{dialect.Greedy(t.Models.Text, "Hello", 4), switching(t)} {
		a := d.Ask(t, streamed(r))
		for i, event := range events(t, a.Exchange) {
			if n := event.Count("sequence_number"); n != i {
				t.Fatalf(a.Exchange, "event %d (%s) has sequence_number %v", i, event.Text("type"), event["sequence_number"])
			}
		}
	}
}

func outputIndexes(t *conformance.Trial, d dialect.Dialect) {
	for _, r := range []dialect.Request{dialect.Greedy(t.Models.Text, "Hello", 4), switching(t)} {
		a := d.Ask(t, streamed(r))
		var ids []string
		for _, event := range events(t, a.Exchange) {
			index, kind := event.Count("output_index"), event.Text("type")
			if kind == "response.output_item.added" {
				if index != len(ids) {
					t.Errorf(a.Exchange, "item %d is added with output_index %v", len(ids), event["output_index"])
				}
				ids = append(ids, event.Object("item").Text("id"))
				continue
			}
			id := event.Text("item_id")
			if item := event.Object("item"); item != nil {
				id = item.Text("id")
			}
			if id != "" && (index < 0 || index >= len(ids) || ids[index] != id) {
				t.Errorf(a.Exchange, "%s is of item %q with output_index %v; added were %q", kind, id, event["output_index"], ids)
			}
		}
		if len(ids) == 0 {
			t.Errorf(a.Exchange, "no event adds an item")
		}
	}
}

// lastRepeats compares the last event with those before it.
func lastRepeats(t *conformance.Trial, d dialect.Dialect) {
	for _, r := range []dialect.Request{dialect.Greedy(t.Models.Text, "Hello", 4), switching(t)} {
		a := d.Ask(t, streamed(r))
		var text, arguments strings.Builder
		var ids []string
		all := events(t, a.Exchange)
		for _, event := range all {
			switch event.Text("type") {
			case "response.output_text.delta":
				text.WriteString(event.Text("delta"))
			case "response.function_call_arguments.delta":
				arguments.WriteString(event.Text("delta"))
			case "response.output_item.added":
				ids = append(ids, event.Object("item").Text("id"))
			}
		}
		response := all[len(all)-1].Object("response")
		if response == nil {
			t.Fatalf(a.Exchange, "the last event has no response")
		}
		for i, item := range response.Objects("output") {
			if i >= len(ids) || item.Text("id") != ids[i] {
				t.Errorf(a.Exchange, "item %d of the last event has the id %q; streamed were %q", i, item.Text("id"), ids)
			}
		}
		told, args := outputText(response)
		if told != text.String() || args != arguments.String() {
			t.Errorf(a.Exchange, "the last event has the text %q and the arguments %q; streamed were %q and %q", told, args, text.String(), arguments.String())
		}
	}
}

// outputText is all text of a response, and the arguments of its calls.
func outputText(response dialect.Object) (text, arguments string) {
	for _, item := range response.Objects("output") {
		arguments += item.Text("arguments")
		for _, part := range item.Objects("content") {
			if part.Text("type") == "output_text" {
				text += part.Text("text")
			}
		}
	}
	return text, arguments
}
