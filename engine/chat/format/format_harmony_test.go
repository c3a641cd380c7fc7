package format

import (
	"testing"

	"github.com/diglot/diglot/engine"
)

func TestHarmony(t *testing.T) {
	const start = "<|start|>assistant"
	runScanCases(t, "harmony", []scanCase{
		{"reasoning and answer", start, "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes <you>.<|return|>",
			[]engine.Block{reasoning("Hm."), text("Yes <you>.")}},
		{"no end mark", "", "<|channel|>final<|message|>Yes.", []engine.Block{text("Yes.")}},
		{"a call", start, "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{\"city\": \"Paris\"}<|call|>",
			[]engine.Block{reasoning("Hm."), call("get_weather", `{"city": "Paris"}`)}},
		{"recipient in the role", start, " to=functions.now<|channel|>commentary json<|message|>{}<|call|>", []engine.Block{call("now", "{}")}},
		{"recipient without functions", start, "<|channel|>commentary to=now<|message|>{}<|call|>", []engine.Block{call("now", "{}")}},
		{"call in the analysis", start, "<|channel|>analysis to=functions.now <|constrain|>json<|message|>{}<|call|>", []engine.Block{call("now", "{}")}},
		{"announcement", start, "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.now<|message|>{}<|call|>",
			[]engine.Block{text("I look."), call("now", "{}")}},
		{"announcement and answer", start, "<|channel|>commentary<|message|>A<|end|><|start|>assistant<|channel|>final<|message|>B",
			[]engine.Block{text("A"), text("B")}},
		{"two calls", start, "<|channel|>commentary to=functions.now<|message|>{}<|end|><|start|>assistant<|channel|>commentary to=functions.now<|message|>{}<|call|>",
			[]engine.Block{call("now", "{}"), call("now", "{}")}},
		{"end forgotten", start, "<|channel|>analysis<|message|>Hm.<|channel|>final<|message|>Yes.", []engine.Block{reasoning("Hm."), text("Yes.")}},
		{"unknown tool", start, "<|channel|>commentary to=functions.rm<|message|>{}<|call|>",
			[]engine.Block{text("<|channel|>commentary to=functions.rm<|message|>{}")}},
		{"no channel", start, "Just text.", []engine.Block{text("Just text.")}},
		{"channel in the prompt", start + "<|channel|>final<|message|>", "Yes.", []engine.Block{text("Yes.")}},
		{"half a header in the prompt", start + "<|channel|>analysis", "<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
			[]engine.Block{reasoning("Hm."), text("Yes.")}},
		{"cut in the arguments", start, "<|channel|>commentary to=functions.now<|message|>{\"a", []engine.Block{call("now", `{"a`)}},
	})
}
