package structure

import (
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// city is a tool whose calls are short on any model.
func city() dialect.Tool {
	return dialect.Tool{
		Name: "get_weather", Description: "Tells the weather of a city.",
		Parameters: object{
			"type": "object", "properties": object{"city": object{"type": "string", "enum": list{"Oslo", "Lima"}}},
			"required": list{"city"}, "additionalProperties": false,
		},
	}
}

func clock() dialect.Tool {
	return dialect.Tool{
		Name: "get_time", Description: "Tells the time in a zone.",
		Parameters: object{
			"type": "object", "properties": object{"zone": object{"type": "string", "enum": list{"UTC", "CET"}}},
			"required": list{"zone"}, "additionalProperties": false,
		},
	}
}

// weather is a request that is to be answered with a call.
func weather(t *conformance.Trial, choice dialect.Choice, name string, tools ...dialect.Tool) dialect.Request {
	return dialect.Greedy(t.Models.Text, "How is the weather in Oslo?", 200).Calling(choice, name, tools...)
}

// choices are scenarios of whether tools are called.
func choices() []conformance.Scenario {
	return slices.Concat(
		dialect.Each("tool-choice-required", "With tools that must be called, the answer is a call of one of them.", callsTools, func(t *conformance.Trial, d dialect.Dialect) {
			expectCalls(t, d, weather(t, dialect.ChoiceRequired, "", city(), clock()), "get_weather", "get_time")
		}),
		dialect.Each("tool-choice-required-stream", "The same, streamed.", callsTools, func(t *conformance.Trial, d dialect.Dialect) {
			r := weather(t, dialect.ChoiceRequired, "", city(), clock())
			r.Stream = true
			expectCalls(t, d, r, "get_weather", "get_time")
		}),
		dialect.Each("tool-choice-named", "The tool that the request names is called, and no other.", callsTools, func(t *conformance.Trial, d dialect.Dialect) {
			for _, name := range []string{"get_time", "get_weather"} {
				expectCalls(t, d, weather(t, dialect.ChoiceNamed, name, city(), clock()), name)
			}
		}),
		dialect.Each("tool-choice-named-stream", "The same, streamed.", callsTools, func(t *conformance.Trial, d dialect.Dialect) {
			r := weather(t, dialect.ChoiceNamed, "get_time", city(), clock())
			r.Stream = true
			expectCalls(t, d, r, "get_time")
		}),
		dialect.Each("tool-choice-none", "No tool is called where the request says so.", callsTools, func(t *conformance.Trial, d dialect.Dialect) {
			for _, stream := range []bool{false, true} {
				r := weather(t, dialect.ChoiceNone, "", city())
				r.MaxTokens, r.Stream = 24, stream
				if a := d.Ask(t, r); len(a.First().Calls) > 0 || a.First().Finish == dialect.FinishTools {
					t.Errorf(a.Exchange, "the answer has %d calls and ends with %q", len(a.First().Calls), a.First().Finish)
				}
			}
		}),
		dialect.Each("tool-choice-auto", "Where the model decides, there is a call or text, and the reason fits.", callsTools, func(t *conformance.Trial, d dialect.Dialect) {
			for _, choice := range []dialect.Choice{dialect.ChoiceUnset, dialect.ChoiceAuto} {
				r := weather(t, choice, "", city())
				r.MaxTokens = 48
				a := d.Ask(t, r)
				if one := a.First(); (len(one.Calls) > 0) != (one.Finish == dialect.FinishTools) && one.Finish != dialect.FinishLength {
					t.Errorf(a.Exchange, "%d calls, and the reason is %q", len(one.Calls), one.Finish)
				}
			}
		}),
		dialect.Each("tool-choice-of-no-tool", "A choice that names a tool which is not offered is a 400.", callsTools, func(t *conformance.Trial, d dialect.Dialect) {
			x := d.Do(t, weather(t, dialect.ChoiceNamed, "no_such_tool", city()))
			if x.Status != 400 {
				t.Errorf(x, "status %d, want 400", x.Status)
			}
		}),
		dialect.Each("tools-many", "Twenty tools may be offered, and the named one is called.", callsTools, func(t *conformance.Trial, d dialect.Dialect) {
			tools := []dialect.Tool{clock()}
			for i := range 19 {
				tool := city()
				tool.Name += "_" + strings.Repeat("x", i+1)
				tools = append(tools, tool)
			}
			expectCalls(t, d, weather(t, dialect.ChoiceNamed, "get_weather_xxx", tools...), "get_weather_xxx")
		}),
		dialect.Each("tools-twice", "Two tools of one name are a 400, or the name can still be called.", callsTools, func(t *conformance.Trial, d dialect.Dialect) {
			x := d.Do(t, weather(t, dialect.ChoiceNamed, "get_weather", city(), city()))
			if x.Status != 400 && x.Status != 200 {
				t.Errorf(x, "status %d, want 400 or 200", x.Status)
			}
		}),
	)
}

// expectCalls wants an answer whose calls are all of the named tools, and each of which fits
// its tool.
func expectCalls(t *conformance.Trial, d dialect.Dialect, r dialect.Request, names ...string) {
	a := d.Ask(t, r)
	one := a.First()
	if one.Finish == dialect.FinishLength {
		t.Skipf("the model does not end its call within %d tokens", r.MaxTokens)
	}
	if len(one.Calls) == 0 {
		t.Fatalf(a.Exchange, "the answer has no call")
	}
	// The vendor ends a named call in chat completions with stop.
	stops := d.Name == "chat" && r.Choice == dialect.ChoiceNamed && one.Finish == dialect.FinishStop
	if one.Finish != dialect.FinishTools && (!stops || t.Marks) {
		t.Errorf(a.Exchange, "the answer ends with %q, want the reason for calls", one.Finish)
	}
	seen := map[string]bool{}
	for _, c := range one.Calls {
		if !slices.Contains(names, c.Name) {
			t.Errorf(a.Exchange, "a call of %q, want one of %q", c.Name, names)
		}
		if c.ID == "" || seen[c.ID] {
			t.Errorf(a.Exchange, "a call has the id %q, which is empty or another call's", c.ID)
		}
		seen[c.ID] = true
		for _, tool := range r.Tools {
			if tool.Name != c.Name || tool.Parameters == nil {
				continue
			}
			if err := fits(tool.Parameters, c.Arguments); err != nil {
				t.Errorf(a.Exchange, "the arguments %s do not fit the tool: %v", c.Arguments, err)
			}
		}
	}
}
