package format

import (
	"testing"

	"github.com/diglot/diglot/engine"
)

func TestGemma(t *testing.T) {
	runScanCases(t, "gemma", []scanCase{
		{"all types", "", "<|channel>thought\nHm.<channel|>I look.<|tool_call>call:get_weather{city:<|\"|>New \"York\"\n<|\"|>,days:2,exact:true,where:{a:[1,<|\"|>x<|\"|>]}}<tool_call|>",
			[]engine.Block{reasoning("Hm."), text("I look."), call("get_weather", `{"city": "New \"York\"\n", "days": 2, "exact": true, "where": {"a": [1, "x"]}}`)}},
		{"no arguments, two calls", "", "<|tool_call>call:now{}<tool_call|><|tool_call>call:now{}<tool_call|>", []engine.Block{call("now", "{}"), call("now", "{}")}},
		{"FunctionGemma", "", "<start_function_call>call:get_weather{city:<escape>Köln<escape>}<end_function_call>", []engine.Block{call("get_weather", `{"city": "Köln"}`)}},
		{"cut in a string", "", "<|tool_call>call:get_weather{city:<|\"|>Par", []engine.Block{call("get_weather", `{"city": "Par`)}},
		{"cut in a number", "", "<|tool_call>call:get_weather{days:1", []engine.Block{call("get_weather", `{"days": 1`)}},
		{"unknown tool", "", "<|tool_call>call:rm{}<tool_call|>", []engine.Block{text("<|tool_call>call:rm{}<tool_call|>")}},
	})
}

func TestPythonic(t *testing.T) {
	runScanCases(t, "lfm2", []scanCase{
		{"all types", "", "<|tool_call_start|>[get_weather(city='it\\'s \\u00e9', days=-1, exact=True, where={'a': None, \"b\": [1, (2,)]}), now()]<|tool_call_end|>Done.",
			[]engine.Block{call("get_weather", `{"city": "it's é", "days": -1, "exact": true, "where": {"a": null, "b": [1, [2]]}}`), call("now", "{}"), text("Done.")}},
		{"by place", "", `<|tool_call_start|>[get_weather("Paris", 2)]<|tool_call_end|>`, []engine.Block{call("get_weather", `{"city": "Paris", "days": 2}`)}},
		{"spaces", "", `<|tool_call_start|>[ get_weather( city = "Paris" , days = 2 ) ]<|tool_call_end|>`, []engine.Block{call("get_weather", `{"city": "Paris", "days": 2}`)}},
		{"reasoning", "", "<think>Hm.</think><|tool_call_start|>[now()]<|tool_call_end|>", []engine.Block{reasoning("Hm."), call("now", "{}")}},
	})
	runScanCases(t, "olmo3", []scanCase{
		{"lines", "", "<function_calls>get_weather(city=\"Paris\")\nnow()</function_calls>", []engine.Block{call("get_weather", `{"city": "Paris"}`), call("now", "{}")}},
	})
}

func TestJSONFamilies(t *testing.T) {
	weather, now := call("get_weather", `{"city": "Paris"}`), call("now", "{}")
	for _, c := range []struct {
		format string
		output string
		want   []engine.Block
	}{
		{"kimi", "I look.<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{\"city\": \"Paris\"}<|tool_call_end|><|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
			[]engine.Block{text("I look."), callID("id", "get_weather", `{"city": "Paris"}`), callID("id", "now", "{}")}},
		{"kimi", "<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
			[]engine.Block{callID("id", "now", "{}")}},
		{"functionary", "<function=get_weather>{\"city\": \"Paris\"}</function><function=now>{}</function>", []engine.Block{weather, now}},
		{"command-r", "<|START_THINKING|>Hm.<|END_THINKING|><|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"get_weather\", \"parameters\": {\"city\": \"Paris\"}},\n    {\"tool_call_id\": \"1\", \"tool_name\": \"now\", \"parameters\": {}}\n]<|END_ACTION|>",
			[]engine.Block{reasoning("Hm."), weather, now}},
		{"command-r", "<|START_RESPONSE|>Yes.<|END_RESPONSE|>", []engine.Block{text("Yes.")}},
		{"apertus", "<|inner_prefix|>Hm.<|inner_suffix|><|tools_prefix|>[{\"get_weather\": {\"city\": \"Paris\"}}, {\"now\": {}}]<|tools_suffix|>",
			[]engine.Block{reasoning("Hm."), weather, now}},
		{"nemotron", "<think>\nHm.\n</think>\n\n<TOOLCALL>[{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}, {\"name\": \"now\", \"arguments\": {}}]</TOOLCALL>",
			[]engine.Block{reasoning("Hm."), weather, now}},
		{"granite", "<|tool_call|>[{\"name\": \"now\", \"arguments\": {}}]", []engine.Block{now}},
	} {
		runScanCases(t, c.format, []scanCase{{c.format, "", c.output, c.want}})
	}
}
