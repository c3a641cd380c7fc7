package structure

import (
	"slices"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// called is a conversation in which calls of the assistant were answered.
func called(t *conformance.Trial, results ...dialect.Turn) dialect.Request {
	r := dialect.Greedy(t.Models.Text, "How is the weather in Oslo and Lima?", 16)
	r.Tools = []dialect.Tool{city()}
	r.Turns = append(r.Turns, dialect.Turn{Role: "assistant", Calls: []dialect.Call{
		{ID: "call_1", Name: "get_weather", Arguments: `{"city":"Oslo"}`},
		{ID: "call_2", Name: "get_weather", Arguments: `{"city":"Lima"}`},
	}})
	r.Turns = append(r.Turns, results...)
	return r
}

func result(id, text string) dialect.Turn { return dialect.Turn{Role: "tool", CallID: id, Text: text} }

// loops are scenarios of conversations with results of tools.
func loops() []conformance.Scenario {
	accepted := func(promise, about string, request func(*conformance.Trial) dialect.Request) []conformance.Scenario {
		return dialect.Each(promise, about, callsTools, func(t *conformance.Trial, d dialect.Dialect) {
			d.Ask(t, request(t))
		})
	}
	return slices.Concat(
		accepted("tool-results", "Results of two calls are accepted, and an answer comes.", func(t *conformance.Trial) dialect.Request {
			return called(t, result("call_1", "3 degrees"), result("call_2", "20 degrees"))
		}),
		accepted("tool-results-in-another-order", "Results may come in another order than the calls.", func(t *conformance.Trial) dialect.Request {
			return called(t, result("call_2", "20 degrees"), result("call_1", "3 degrees"))
		}),
		accepted("tool-results-empty", "A result may be empty.", func(t *conformance.Trial) dialect.Request {
			return called(t, result("call_1", ""), result("call_2", "20 degrees"))
		}),
		accepted("tool-results-without-tools", "Calls of earlier turns are accepted where no tool is offered any more.", func(t *conformance.Trial) dialect.Request {
			r := called(t, result("call_1", "3 degrees"), result("call_2", "20 degrees"))
			r.Tools = nil
			return r
		}),
		accepted("tool-results-and-a-question", "The user may go on after results.", func(t *conformance.Trial) dialect.Request {
			r := called(t, result("call_1", "3 degrees"), result("call_2", "20 degrees"))
			r.Turns = append(r.Turns, dialect.Turn{Role: "assistant", Text: "It is cold in Oslo."}, dialect.Turn{Role: "user", Text: "And tomorrow?"})
			return r
		}),
		dialect.Each("tool-result-without-call", "A result whose call is missing is a 400.", callsTools, func(t *conformance.Trial, d dialect.Dialect) {
			r := dialect.Greedy(t.Models.Text, "Hello.", 16)
			r.Tools = []dialect.Tool{city()}
			r.Turns = append(r.Turns, result("call_9", "3 degrees"))
			if x := d.Do(t, r); x.Status != 400 {
				t.Errorf(x, "status %d, want 400", x.Status)
			}
		}),
	)
}
