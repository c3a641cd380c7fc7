package scenario

import (
	"fmt"
	"slices"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// finishes is how answers end, and that a stream says what a plain reply says.
func finishes() []conformance.Scenario {
	chat, completions, responses, messages := dialect.Chat(), dialect.Completions(), dialect.Responses(), dialect.Messages()
	return slices.Concat(
		dialect.Each("finish/length", "An answer that reaches the limit of tokens says so, plain and streamed.", nil, finishLength),
		dialect.Each("finish/stop", "An answer that is complete says so, plain and streamed.", schemas, finishStop),
		dialect.Each("stream/same-text", "A stream joins to the text of the plain reply to the same greedy request.", nil, sameText),
		dialect.Each("stream/same-call", "A stream joins to the tool call of the plain reply to the same greedy request.", tools, sameCall),
		dialect.Each("stream/same-usage", "A stream counts the same tokens as the plain reply to the same greedy request.", nil, sameUsage),
		dialect.Each("stream/in-pieces", "A stream brings its text in several pieces.", nil, inPieces),
		[]conformance.Scenario{
			chat.Scenario("stream/finish-once", "Every choice has one finish reason, and nothing of it comes after.", finishOnce),
			completions.Scenario("stream/finish-once", "Every choice has one finish reason, and nothing of it comes after.", finishOnce),
			chat.Scenario("stream/done-last", "A stream ends with one [DONE], a blank line, and nothing after.", doneLast),
			completions.Scenario("stream/done-last", "A stream ends with one [DONE], a blank line, and nothing after.", doneLast),
			chat.Scenario("stream/usage-if-asked", "The counts of tokens come in one last chunk without choices, if they are asked for, and else not.", usageIfAsked),
			completions.Scenario("stream/usage-if-asked", "The counts of tokens come in one last chunk without choices, if they are asked for, and else not.", usageIfAsked),
			messages.Scenario("stream/stop-last", "A stream has one message_delta with a stop reason, and ends with one message_stop.", stopLast),
			messages.Scenario("stream/usage-in-both-ends", "message_start counts the input, and message_delta the whole output.", usageInBothEnds),
			responses.Scenario("stream/last-event", "A stream ends with response.completed or response.incomplete, and there is one such event.", lastEvent),
			responses.Scenario("finish/status", "A response is incomplete with the reason max_output_tokens, or completed without a reason.", responseStatus),
		},
	)
}

func schemas(d dialect.Dialect) bool { return d.Schemas }

func finishLength(t *conformance.Trial, d dialect.Dialect) {
	r, plain := prose(t, d, 5)
	for _, a := range []*dialect.Answer{plain, d.Ask(t, streamed(r))} {
		if f := a.First().Finish; f != dialect.FinishLength {
			t.Errorf(a.Exchange, "the answer of 5 tokens ends with %q, want %q", f, dialect.FinishLength)
		}
	}
}

func finishStop(t *conformance.Trial, d dialect.Dialect) {
	const most = 60
	r := dialect.Greedy(t.Models.Text, "Is water wet? Answer as JSON.", most)
	r.Schema = dialect.Closed(map[string]any{"yes": map[string]any{"type": "boolean"}}, "yes")
	for _, a := range []*dialect.Answer{d.Ask(t, r), d.Ask(t, streamed(r))} {
		switch f := a.First().Finish; {
		case f == dialect.FinishStop:
		case f == dialect.FinishLength && a.Usage.Output >= most:
			t.Skipf("the model does not end its answer")
		default:
			t.Errorf(a.Exchange, "a complete answer of %d tokens ends with %q, want %q", a.Usage.Output, f, dialect.FinishStop)
		}
	}
}

func sameText(t *conformance.Trial, d dialect.Dialect) {
	r, plain := spoken(t, d)
	alike(t, known(t, d, r, plain), asking(t, d, streamed(r)), differentText)
}

func differentText(want, got *dialect.Answer) string {
	if got.First().Text != want.First().Text {
		return fmt.Sprintf("the text is %q, and the plain reply is %q", got.First().Text, want.First().Text)
	}
	if got.First().Finish != want.First().Finish {
		return fmt.Sprintf("the answer ends with %q, and the plain reply with %q", got.First().Finish, want.First().Finish)
	}
	return ""
}

func sameCall(t *conformance.Trial, d dialect.Dialect) {
	r := switching(t)
	plain := d.Ask(t, r)
	if len(plain.First().Calls) == 0 {
		t.Skipf("the model makes no call, even if it must")
	}
	alike(t, known(t, d, r, plain), asking(t, d, streamed(r)), differentCalls)
}

func differentCalls(left, right *dialect.Answer) string {
	want, got := left.First(), right.First()
	if len(got.Calls) != len(want.Calls) || got.Finish != want.Finish {
		return fmt.Sprintf("the stream has %d calls and ends with %q, the plain reply %d and %q", len(got.Calls), got.Finish, len(want.Calls), want.Finish)
	}
	for i, call := range got.Calls {
		if w := want.Calls[i]; call.Name != w.Name || !sameJSON(call.Arguments, w.Arguments) {
			return fmt.Sprintf("call %d is %s(%s) in the stream, and %s(%s) in the plain reply", i, call.Name, call.Arguments, w.Name, w.Arguments)
		}
	}
	return ""
}

func sameUsage(t *conformance.Trial, d dialect.Dialect) {
	r, plain := prose(t, d, 8)
	alike(t, known(t, d, r, plain), asking(t, d, streamed(r)), func(left, right *dialect.Answer) string {
		got, want := right.Usage, left.Usage
		got.Cached, want.Cached = 0, 0 // what the first request left in the cache
		if got != want {
			return fmt.Sprintf("the stream counts %+v, and the plain reply %+v", got, want)
		}
		return ""
	})
}

func inPieces(t *conformance.Trial, d dialect.Dialect) {
	r, _ := spoken(t, d)
	a := d.Ask(t, streamed(r))
	if len(a.Deltas) < 2 {
		t.Errorf(a.Exchange, "the text of a sentence comes in %d pieces", len(a.Deltas))
	}
}

func responseStatus(t *conformance.Trial, d dialect.Dialect) {
	r, _ := prose(t, d, 5)
	whole := dialect.Greedy(t.Models.Text, "Is water wet? Answer as JSON.", 60)
	whole.Schema = dialect.Closed(map[string]any{"yes": map[string]any{"type": "boolean"}}, "yes")
	for _, r := range []dialect.Request{r, whole} {
		a := d.Ask(t, r)
		body, err := dialect.Body(a.Exchange)
		if err != nil {
			t.Fatalf(a.Exchange, "%v", err)
		}
		status, reason := body.Text("status"), body.Object("incomplete_details").Text("reason")
		if cut := a.Usage.Output >= r.MaxTokens; cut && (status != "incomplete" || reason != "max_output_tokens") {
			t.Errorf(a.Exchange, "an answer cut at %d tokens has status %q and reason %q", r.MaxTokens, status, reason)
		} else if !cut && (status != "completed" || body["incomplete_details"] != nil) {
			t.Errorf(a.Exchange, "a whole answer has status %q and incomplete_details %v", status, body["incomplete_details"])
		}
	}
}
