package scenario

import (
	"encoding/json/v2"
	"reflect"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// sameJSON reports whether two texts are the same JSON value.
func sameJSON(a, b string) bool {
	var left, right any
	if json.Unmarshal([]byte(a), &left) != nil || json.Unmarshal([]byte(b), &right) != nil {
		return a == b
	}
	return reflect.DeepEqual(left, right)
}

func finishOnce(t *conformance.Trial, d dialect.Dialect) {
	a := d.Ask(t, streamed(dialect.Greedy(t.Models.Text, "Hello", 4)))
	finished := map[int]bool{}
	for i, chunk := range events(t, a.Exchange) {
		for _, choice := range chunk.Objects("choices") {
			index := choice.Count("index")
			if finished[index] {
				t.Errorf(a.Exchange, "chunk %d is of choice %d, which has finished", i, index)
			}
			finished[index] = finished[index] || choice.Text("finish_reason") != ""
		}
	}
	if !finished[0] {
		t.Errorf(a.Exchange, "no chunk has a finish reason")
	}
}

func doneLast(t *conformance.Trial, d dialect.Dialect) {
	for _, usage := range []bool{false, true} {
		r := dialect.Greedy(t.Models.Text, "Hello", 2)
		r.Stream, r.Usage = true, usage
		x := t.OK(d.For(t, r))
		frames, whole := x.Frames()
		if !whole {
			t.Errorf(x, "the blank line after the last event is missing")
		}
		for i, f := range frames {
			if last := i == len(frames)-1; last != (f.Data == "[DONE]") {
				t.Fatalf(x, "event %d of %d is %q; the last one, and it alone, must be [DONE]", i, len(frames), f.Data)
			}
		}
	}
}

func usageIfAsked(t *conformance.Trial, d dialect.Dialect) {
	for _, asked := range []bool{false, true} {
		r := dialect.Greedy(t.Models.Text, "Hello", 2)
		r.Stream, r.Usage = true, asked
		x := t.OK(d.For(t, r))
		all := events(t, x)
		count := 0
		for i, chunk := range all {
			if chunk.Object("usage") == nil {
				continue
			}
			count++
			if len(chunk.Objects("choices")) > 0 || i < len(all)-1 {
				t.Errorf(x, "usage is in chunk %d of %d, with %d choices; want it in the last, with none", i, len(all), len(chunk.Objects("choices")))
			}
		}
		if asked && count != 1 || !asked && count != 0 {
			t.Errorf(x, "%d chunks have usage; include_usage is %v", count, asked)
		}
	}
}

func stopLast(t *conformance.Trial, d dialect.Dialect) {
	a := d.Ask(t, streamed(dialect.Greedy(t.Models.Text, "Hello", 4)))
	all := events(t, a.Exchange)
	reasons := 0
	for i, event := range all {
		if event.Text("type") == "message_delta" && event.Object("delta").Text("stop_reason") != "" {
			reasons++
		}
		if last := i == len(all)-1; last != (event.Text("type") == "message_stop") {
			t.Errorf(a.Exchange, "event %d of %d is %s; the last one, and it alone, must be message_stop", i, len(all), event.Text("type"))
		}
	}
	if reasons != 1 {
		t.Errorf(a.Exchange, "%d events have a stop reason, want 1", reasons)
	}
	if _, whole := a.Exchange.Frames(); !whole {
		t.Errorf(a.Exchange, "the blank line after the last event is missing")
	}
}

func usageInBothEnds(t *conformance.Trial, d dialect.Dialect) {
	r, plain := prose(t, d, 4)
	a := d.Ask(t, streamed(r))
	for _, event := range events(t, a.Exchange) {
		switch event.Text("type") {
		case "message_start":
			usage := event.Object("message").Object("usage")
			if n := dialect.MessageInput(usage); n != plain.Usage.Input {
				t.Errorf(a.Exchange, "message_start counts %d input tokens, and the plain reply %d", n, plain.Usage.Input)
			}
			if n := usage.Count("output_tokens"); n < 0 || n > plain.Usage.Output {
				t.Errorf(a.Exchange, "message_start counts %d output tokens, of %d in the end", n, plain.Usage.Output)
			}
		case "message_delta":
			usage := event.Object("usage")
			if n := usage.Count("output_tokens"); n != plain.Usage.Output {
				t.Errorf(a.Exchange, "message_delta counts %d output tokens, and the plain reply %d", n, plain.Usage.Output)
			}
			if n := dialect.MessageInput(usage); n >= 0 && n != plain.Usage.Input {
				t.Errorf(a.Exchange, "message_delta counts %d input tokens, and the plain reply %d", n, plain.Usage.Input)
			}
		}
	}
}

func lastEvent(t *conformance.Trial, d dialect.Dialect) {
	a := d.Ask(t, streamed(dialect.Greedy(t.Models.Text, "Hello", 4)))
	all := events(t, a.Exchange)
	for i, event := range all {
		kind := event.Text("type")
		end := kind == "response.completed" || kind == "response.incomplete"
		if last := i == len(all)-1; last != end {
			t.Errorf(a.Exchange, "event %d of %d is %s; the last one, and it alone, must say how the response ended", i, len(all), kind)
		}
	}
	if _, whole := a.Exchange.Frames(); !whole {
		t.Errorf(a.Exchange, "the blank line after the last event is missing")
	}
}
