package scenario

import (
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// turns is conversations of unusual form, and answers that come back as history.
func turns() []conformance.Scenario {
	return slices.Concat(
		dialect.Each("turns/system-in-the-middle", "Instructions may stand between other turns, and count.", talks, systemInTheMiddle),
		dialect.Each("turns/several-systems", "Several turns of instructions all count.", talks, severalSystems),
		dialect.Each("turns/same-role-twice", "Two turns of one role in a row are both read.", talks, sameRoleTwice),
		dialect.Each("turns/more-counts-more", "Every turn of a conversation adds to the input.", talks, everyTurnCounts),
		dialect.Each("turns/assistant-last", "A conversation that ends with the assistant is answered.", talks, assistantLast),
		dialect.Each("turns/empty-text", "An empty text is answered, or refused as a bad request.", nil, emptyText),
		dialect.Each("history/own-text", "An answer can be sent back in the server's own words.", talks, ownText),
		dialect.Each("history/own-call", "A tool call can be sent back in the server's own words, with its result.", tools, ownCall),
		dialect.Each("history/own-streamed-call", "A tool call that was streamed can be sent back, with its result.", tools, ownStreamedCall),
		dialect.Each("history/thinking", "Earlier thinking can be sent back.", func(d dialect.Dialect) bool { return d.Reasons }, earlierThinking),
		[]conformance.Scenario{
			dialect.Chat().Scenario("turns/developer", "The role developer gives instructions, and counts.", developer),
			dialect.Responses().Scenario("turns/developer", "The role developer gives instructions, and counts.", developer),
			dialect.Messages().Scenario("turns/prefill", "An answer goes on where a last turn of the assistant ends, and does not repeat it.", prefill),
		},
	)
}

// talks reports whether a dialect has turns.
func talks(d dialect.Dialect) bool { return d.System }

// counted asks for one token, and returns the tokens of the input.
func counted(t *conformance.Trial, d dialect.Dialect, turns ...dialect.Turn) (int, *dialect.Answer) {
	r := dialect.Greedy(t.Models.Text, "", 1)
	r.Turns = turns
	a := d.Ask(t, r)
	return a.Usage.Input, a
}

// offerSystems ends the scenario where instructions have no turns: Anthropic's style has a
// field for them.
func offerSystems(t *conformance.Trial, d dialect.Dialect) {
	if d.Style != conformance.Anthropic || t.Marks {
		return
	}
	r := dialect.Greedy(t.Models.Text, "", 1)
	user := dialect.Turn{Role: "user", Text: "Hello"}
	r.Turns = []dialect.Turn{user, {Role: "system", Text: "Be brief."}, user}
	if x := d.Do(t, r); x.Status == 400 {
		t.NotOfferedf("the server refuses turns of the system: %s", x.Body)
	}
}

func systemInTheMiddle(t *conformance.Trial, d dialect.Dialect) {
	offerSystems(t, d)
	user, assistant := dialect.Turn{Role: "user", Text: "Hello"}, dialect.Turn{Role: "assistant", Text: "Hello, friend."}
	without, _ := counted(t, d, user, assistant, user)
	with, a := counted(t, d, user, assistant, dialect.Turn{Role: "system", Text: "From now on speak like a sailor of the eighteenth century."}, user)
	if with < without+5 {
		t.Errorf(a.Exchange, "with instructions in the middle the input counts %d tokens, and without %d", with, without)
	}
}

func severalSystems(t *conformance.Trial, d dialect.Dialect) {
	offerSystems(t, d)
	user := dialect.Turn{Role: "user", Text: "Hello"}
	single, _ := counted(t, d, dialect.Turn{Role: "system", Text: "Be brief."}, user)
	both, a := counted(t, d, dialect.Turn{Role: "system", Text: "Be brief."}, dialect.Turn{Role: "system", Text: "Never mention the weather in any answer."}, user)
	if both < single+4 {
		t.Errorf(a.Exchange, "with two turns of instructions the input counts %d tokens, and with one %d", both, single)
	}
}

func developer(t *conformance.Trial, d dialect.Dialect) {
	user := dialect.Turn{Role: "user", Text: "Hello"}
	without, _ := counted(t, d, user)
	with, a := counted(t, d, dialect.Turn{Role: "developer", Text: "Speak like a sailor of the eighteenth century, and never of the weather in any answer, whatever happens at sea or on land."}, user)
	if with <= without {
		t.Errorf(a.Exchange, "with instructions of the developer the input counts %d tokens, and without %d", with, without)
	}
}

func sameRoleTwice(t *conformance.Trial, d dialect.Dialect) {
	single, _ := counted(t, d, dialect.Turn{Role: "user", Text: "Hello"})
	both, a := counted(t, d, dialect.Turn{Role: "user", Text: "Hello"}, dialect.Turn{Role: "user", Text: "And tell me about the sea, please."})
	if both < single+4 {
		t.Errorf(a.Exchange, "two turns of the user count %d tokens, and one %d", both, single)
	}
}

func everyTurnCounts(t *conformance.Trial, d dialect.Dialect) {
	all := conversation(t, 1).Turns
	last := 0
	for n := 1; n <= len(all); n += 2 {
		count, a := counted(t, d, all[:n]...)
		if count <= last {
			t.Errorf(a.Exchange, "%d turns count %d tokens, and fewer %d", n, count, last)
		}
		last = count
	}
}

func assistantLast(t *conformance.Trial, d dialect.Dialect) {
	r := conversation(t, 4)
	r.Turns = r.Turns[:2]
	x := d.Do(t, r)
	switch {
	case x.Status == 400 && !t.Marks:
		t.NotOfferedf("the server refuses a last turn of the assistant")
	case x.Status != 200:
		t.Errorf(x, "status %d, want 200", x.Status)
	}
}

func prefill(t *conformance.Trial, d dialect.Dialect) {
	r := dialect.Greedy(t.Models.Text, "Count to ten.", 12)
	r.Turns = append(r.Turns, dialect.Turn{Role: "assistant", Text: "1, 2, 3, 4, 5,"})
	x := d.Do(t, r)
	if x.Status == 400 && !t.Marks {
		t.NotOfferedf("the server refuses a last turn of the assistant")
	}
	a := d.Ask(t, r)
	if text := a.First().Text; strings.HasPrefix(strings.TrimSpace(text), "1, 2") {
		t.Errorf(a.Exchange, "the answer %q begins again", text)
	}
	alike(t, known(t, d, r, a), asking(t, d, streamed(r)), differentText)
}

func emptyText(t *conformance.Trial, d dialect.Dialect) {
	r := dialect.Greedy(t.Models.Text, "", 2)
	x := d.Do(t, r)
	if x.Status != 200 && x.Status != 400 {
		t.Errorf(x, "status %d, want 200 or 400", x.Status)
	}
}

// ownWords is an answer as the history of the next request, as its dialect writes it.
func ownWords(t *conformance.Trial, d dialect.Dialect, a *dialect.Answer) []any {
	body, err := dialect.Body(a.Exchange)
	if err != nil {
		t.Fatalf(a.Exchange, "%v", err)
	}
	var all []any
	switch d.Name {
	case "chat":
		if choices := body.Objects("choices"); len(choices) > 0 {
			all = append(all, choices[0].Object("message"))
		}
	case "responses":
		for _, item := range body.Objects("output") {
			all = append(all, item)
		}
	case "messages":
		all = append(all, map[string]any{"role": "assistant", "content": body["content"]})
	}
	return all
}

// goOn sends the turns of a request, then what came, then further turns in the dialect.
func goOn(t *conformance.Trial, d dialect.Dialect, r dialect.Request, came []any, further ...dialect.Turn) *dialect.Answer {
	field := "messages"
	if d.Name == "responses" {
		field = "input"
	}
	more := r
	more.System, more.Turns = "", further
	start, _ := d.Encode(r).Body.(map[string]any)[field].([]any)
	end, _ := d.Encode(more).Body.(map[string]any)[field].([]any)
	r.Extra = map[string]any{field: slices.Concat(start, came, end)}
	r.Choice, r.ChoiceName, r.Single = dialect.ChoiceUnset, "", false
	return d.Ask(t, r)
}

func ownText(t *conformance.Trial, d dialect.Dialect) {
	r, a := prose(t, d, 6)
	further := dialect.Turn{Role: "user", Text: "Go on."}
	next := func() *dialect.Answer { return goOn(t, d, r, ownWords(t, d, a), further) }
	if a.First().Reasoning != "" {
		next()
		return // the written turn would not have it
	}
	written := r
	written.Turns = append(slices.Clone(r.Turns), dialect.Turn{Role: "assistant", Text: a.First().Text}, further)
	compare(t, asking(t, d, written), next)
}

func ownCall(t *conformance.Trial, d dialect.Dialect) {
	r := switching(t)
	a := d.Ask(t, r)
	if len(a.First().Calls) != 1 {
		t.Skipf("the model makes no call, even if it must")
	}
	call := a.First().Calls[0]
	result := dialect.Turn{Role: "tool", CallID: call.ID, Text: "The light is on."}
	r.MaxTokens = 4
	next := goOn(t, d, r, ownWords(t, d, a), result)
	if next.Usage.Input <= a.Usage.Input {
		t.Errorf(next.Exchange, "with the call and its result the input counts %d tokens, and before %d", next.Usage.Input, a.Usage.Input)
	}
}

func ownStreamedCall(t *conformance.Trial, d dialect.Dialect) {
	r := switching(t)
	a := d.Ask(t, streamed(r))
	if len(a.First().Calls) != 1 {
		t.Skipf("the model makes no call, even if it must")
	}
	call := a.First().Calls[0]
	r.Turns = append(r.Turns, dialect.Turn{Role: "assistant", Calls: []dialect.Call{call}}, dialect.Turn{Role: "tool", CallID: call.ID, Text: "The light is on."})
	r.Choice, r.ChoiceName, r.Single, r.MaxTokens = dialect.ChoiceUnset, "", false, 4
	d.Ask(t, r)
}

// earlierThinking sends thinking that came from the server, or, where the server's own marks
// are tested, thinking that is made up.
func earlierThinking(t *conformance.Trial, d dialect.Dialect) {
	r := dialect.Greedy(t.Models.Text, "What is 2 and 2?", 40)
	a := d.Ask(t, r)
	further := dialect.Turn{Role: "user", Text: "Are you sure?"}
	if a.First().Reasoning != "" {
		goOn(t, d, r, ownWords(t, d, a), further)
		return
	}
	if !t.Marks {
		t.Skipf("the model does not think")
	}
	r.MaxTokens = 2
	r.Turns = append(r.Turns, dialect.Turn{Role: "assistant", Text: "4", Think: "Two and two make four."}, further)
	d.Ask(t, r)
}
