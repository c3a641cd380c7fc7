package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// counts is how tokens are counted.
func counts() []conformance.Scenario {
	count := dialect.Messages().Scenario("usage/equals-count-tokens", "count_tokens gives the number of input tokens that the message then has.", countedBefore)
	count.Name, count.Operation = "anthropic/messages-count_tokens/equals-usage", "countMessageTokens"
	return slices.Concat(
		dialect.Each("usage/sum", "The total is the sum of input and output, and the parts are within their whole.", openAI, usageSum),
		dialect.Each("usage/counted", "Every answer counts at least one token of input and of output.", nil, usageCounted),
		dialect.Each("usage/exact-limit", "A limit of 1, 2, 5 or 16 tokens gives exactly that many, plain and streamed.", nil, exactLimit),
		dialect.Each("usage/more-text-counts-more", "A longer input counts more tokens.", nil, moreCountsMore),
		dialect.Each("usage/same-when-cached", "The same request counts the same input again, whatever is cached.", nil, sameWhenCached),
		dialect.Each("usage/forms-count-alike", "The same text counts the same in every form in which it can be sent.", nil, formsAlike),
		[]conformance.Scenario{
			dialect.Responses().Scenario("usage/input-as-in-chat", "The same conversation counts the same input in responses as in chat completions.", inputAsInChat),
			dialect.Messages().Scenario("usage/input-as-in-chat", "The same conversation counts the same input in messages as in chat completions.", inputAsInChat),
			count,
		},
	)
}

func openAI(d dialect.Dialect) bool { return d.Style == conformance.OpenAI }

func usageSum(t *conformance.Trial, d dialect.Dialect) {
	r := dialect.Greedy(t.Models.Text, "Tell me about the sea. "+strings.Repeat("It is wide. ", 20), 4)
	for _, a := range []*dialect.Answer{d.Ask(t, r), d.Ask(t, r), d.Ask(t, streamed(r))} {
		u := a.Usage
		if u.Input < 0 || u.Output < 0 || u.Total != u.Input+u.Output {
			t.Errorf(a.Exchange, "the input has %d tokens and the output %d, and the total is %d", u.Input, u.Output, u.Total)
		}
		if u.Cached > u.Input {
			t.Errorf(a.Exchange, "%d tokens of the input are from the cache, and it has %d", u.Cached, u.Input)
		}
		if u.Reasoning > u.Output {
			t.Errorf(a.Exchange, "%d tokens of the output are reasoning, and it has %d", u.Reasoning, u.Output)
		}
	}
}

func usageCounted(t *conformance.Trial, d dialect.Dialect) {
	r, plain := prose(t, d, 4)
	for _, a := range []*dialect.Answer{plain, d.Ask(t, streamed(r))} {
		if a.Usage.Input < 1 || a.Usage.Output < 1 {
			t.Errorf(a.Exchange, "the input has %d tokens and the output %d", a.Usage.Input, a.Usage.Output)
		}
	}
}

func exactLimit(t *conformance.Trial, d dialect.Dialect) {
	r, _ := prose(t, d, 16)
	for _, n := range []int{1, 2, 5, 16} {
		r.MaxTokens = n
		for _, a := range []*dialect.Answer{d.Ask(t, r), d.Ask(t, streamed(r))} {
			if a.First().Finish == dialect.FinishStop && a.Usage.Output < n {
				continue // another text than before, and a shorter one: see tries
			}
			if a.Usage.Output != n || a.First().Finish != dialect.FinishLength {
				t.Errorf(a.Exchange, "with a limit of %d tokens there are %d, and the answer ends with %q", n, a.Usage.Output, a.First().Finish)
			}
		}
	}
}

func moreCountsMore(t *conformance.Trial, d dialect.Dialect) {
	last := 0
	for _, n := range []int{1, 10, 40} {
		a := d.Ask(t, dialect.Greedy(t.Models.Text, strings.Repeat("The sea is wide. ", n), 1))
		if a.Usage.Input <= last {
			t.Errorf(a.Exchange, "%d sentences count %d tokens, and fewer sentences %d", n, a.Usage.Input, last)
		}
		last = a.Usage.Input
	}
	a := d.Ask(t, dialect.Greedy(t.Models.Text, strings.Repeat("The sea is wide. ", 80), 1))
	if a.Usage.Input < 80 {
		t.Errorf(a.Exchange, "80 sentences count %d tokens", a.Usage.Input)
	}
}

func sameWhenCached(t *conformance.Trial, d dialect.Dialect) {
	r := dialect.Greedy(t.Models.Text, strings.Repeat("Rivers run to the sea. ", 30), 1)
	want := d.Ask(t, r).Usage.Input
	for range 2 {
		if a := d.Ask(t, r); a.Usage.Input != want {
			t.Errorf(a.Exchange, "the input counts %d tokens; the same request counted %d before", a.Usage.Input, want)
		}
	}
}

// formsAlike sends one text as a string and as parts. Where the dialect has one form alone,
// it is sent with and without escapes.
func formsAlike(t *conformance.Trial, d dialect.Dialect) {
	const text = "Où est la mer? \"Là-bas\" <b>&</b>"
	plain := dialect.Greedy(t.Models.Text, text, 2)
	r, want := plain, d.Ask(t, plain)
	var forms []any
	switch d.Name {
	case "chat":
		forms = []any{[]any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": text}}}}}
	case "messages":
		forms = []any{[]any{map[string]any{"role": "user", "content": text}}}
	case "responses":
		forms = []any{text, []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "input_text", "text": text}}}}}
	case "completions":
		forms = []any{[]string{text}}
	}
	field := map[string]string{"responses": "input", "completions": "prompt"}[d.Name]
	if field == "" {
		field = "messages"
	}
	for _, form := range forms {
		r.Extra = map[string]any{field: form}
		compare(t, known(t, d, plain, want), asking(t, d, r))
	}
}

// compare reports a difference in input tokens or text between two forms of one request.
func compare(t *conformance.Trial, reference, ask func() *dialect.Answer) {
	alike(t, reference, ask, func(want, got *dialect.Answer) string {
		switch {
		case got.Usage.Input != want.Usage.Input:
			return fmt.Sprintf("in this form the text counts %d tokens, and in another %d", got.Usage.Input, want.Usage.Input)
		case got.First().Text != want.First().Text:
			return fmt.Sprintf("in this form the greedy answer is %q, and in another %q", got.First().Text, want.First().Text)
		}
		return ""
	})
}

// conversation is a greedy request with a system text and several turns.
func conversation(t *conformance.Trial, maxTokens int) dialect.Request {
	r := dialect.Greedy(t.Models.Text, "My name is Ada.", maxTokens)
	r.System = "You are brief."
	r.Turns = append(r.Turns, dialect.Turn{Role: "assistant", Text: "Hello, Ada."}, dialect.Turn{Role: "user", Text: "What is my name?"})
	return r
}

func inputAsInChat(t *conformance.Trial, d dialect.Dialect) {
	r := conversation(t, 4)
	chat, err := dialect.Chat().Try(t, r)
	if err != nil {
		t.Skipf("chat completions do not answer: %v", err)
	}
	a := d.Ask(t, r)
	if chat.First().Reasoning != "" || a.First().Reasoning != "" {
		t.Skipf("the model thinks, and the two APIs have different defaults for that")
	}
	if a.Usage.Input != chat.Usage.Input {
		t.Errorf(a.Exchange, "the input counts %d tokens, and in chat completions %d", a.Usage.Input, chat.Usage.Input)
	}
}

func countedBefore(t *conformance.Trial, d dialect.Dialect) {
	many := switching(t)
	many.Turns = conversation(t, 1).Turns
	for _, r := range []dialect.Request{dialect.Greedy(t.Models.Text, "Hello", 1), conversation(t, 1), switching(t), many} {
		request := d.Encode(r)
		body := request.Body.(map[string]any)
		a := d.Ask(t, r)
		for _, name := range []string{"max_tokens", "temperature"} {
			delete(body, name)
		}
		request.Path = "/v1/messages/count_tokens"
		x := t.OK(request)
		count, err := dialect.Body(x)
		if err != nil {
			t.Fatalf(x, "%v", err)
		}
		if n := count.Count("input_tokens"); n != a.Usage.Input {
			t.Errorf(x, "count_tokens gives %d, and the message had %d input tokens", n, a.Usage.Input)
		}
	}
}
