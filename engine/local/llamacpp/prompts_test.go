//go:build llamacpp && cgo

package llamacpp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// asked is a prompt of any model, and how much of the answer is compared.
type asked struct {
	kind string
	text string
	raw  bool // it is no question: the model goes on with it
	most int  // tokens
}

// prompt writes it as the model's template would.
func (a asked) prompt(model string) string {
	switch {
	case a.raw:
		return a.text
	case strings.HasPrefix(model, "gemma"):
		return "<start_of_turn>user\n" + a.text + "<end_of_turn>\n<start_of_turn>model\n"
	}
	return ask(a.text)
}

// writer makes texts.
type writer struct{ *rand.Rand }

func (w writer) of(words ...string) string { return words[w.IntN(len(words))] }

func (w writer) sentence() string {
	text := fmt.Sprintf("%s %s %s %s %s", w.of("The old", "A young", "The last", "Her", "No"), w.of("baker", "fox", "sailor", "neighbour", "engine"),
		w.of("counts", "repairs", "hides", "forgets", "paints"), w.of("seven", "the", "his", "two broken", "some"), w.of("boats", "letters", "walls", "apples", "numbers"))
	return text + w.of("", " before noon", " in the rain", ", as always", " for nothing") + "."
}

func (w writer) paragraph(sentences int) string {
	var all []string
	for range sentences {
		all = append(all, w.sentence())
	}
	return strings.Join(all, " ")
}

// scripts are beginnings in languages of several scripts.
var scripts = []string{
	"Столица Франции — это город", "日本で一番高い山は", "中国的首都是北京，", "Η πρωτεύουσα της Ελλάδας είναι", "عاصمة مصر هي مدينة",
	"भारत की राजधानी", "בירת ישראל היא", "한국의 수도는", "ประเทศไทยมีเมืองหลวงชื่อ", "Příliš žluťoučký kůň úpěl", "1️⃣ 🍎 2️⃣ 🍌 3️⃣", "∑ᵢ xᵢ² ≤ ∞ ⇒",
}

// kinds of prompts.
var kinds = []struct {
	name string
	make func(w writer) asked
}{
	{"fact", func(w writer) asked {
		return asked{text: fmt.Sprintf("What is %s of %s?", w.of("the capital", "the largest river", "the history", "the climate"), w.of("France", "Kenya", "Peru", "Japan", "Norway", "Egypt", "India"))}
	}},
	{"story", func(w writer) asked {
		return asked{text: "Write a short story that begins like this: " + w.sentence()}
	}},
	{"prose", func(w writer) asked { return asked{raw: true, text: w.paragraph(2+w.IntN(12)) + " Then"} }},
	{"go", func(w writer) asked {
		name := w.of("Sum", "Reverse", "Largest", "Count", "Join")
		return asked{raw: true, text: fmt.Sprintf("package %s\n\nimport \"strings\"\n\n// %s returns the %s of %s.\nfunc %s(", w.of("lists", "text", "main"), name, w.of("result", "length", "order"), w.of("items", "words", "all numbers"), name)}
	}},
	{"python", func(w writer) asked {
		return asked{text: fmt.Sprintf("Find the fault in this function:\n\n```python\ndef %s(values):\n    result = %d\n    for v in values:\n        result %s v\n    retrun result\n```", w.of("total", "product", "mean"), w.IntN(9), w.of("+=", "*=", "-=", "=="))}
	}},
	{"copy", func(w writer) asked {
		return asked{most: 40, text: "Repeat this text word for word: " + w.paragraph(3)}
	}},
	{"edit", func(w writer) asked {
		from, to := w.of("x", "y", "item"), w.of("value", "n", "entry")
		code := fmt.Sprintf("func f(%[1]s int) int {\n\tif %[1]s > %[2]d {\n\t\treturn %[1]s * %[1]s\n\t}\n\treturn %[1]s + %[3]d\n}", from, w.IntN(100), w.IntN(1000))
		return asked{most: 40, text: fmt.Sprintf("Rename %s to %s in this code, and answer with the whole code:\n\n```go\n%s\n```", from, to, code)}
	}},
	{"list", func(w writer) asked {
		return asked{most: 24, text: fmt.Sprintf("List %d %s, one per line.", 5+w.IntN(20), w.of("colours", "rivers", "even numbers", "animals", "tools", "months"))}
	}},
	{"json", func(w writer) asked {
		return asked{most: 24, raw: true, text: fmt.Sprintf("[\n  {\"id\": %d, \"name\": %q, \"tags\": [\"a\", \"b\"]},\n  {\"id\": %d, \"name\": %q, \"tags\": [", w.IntN(50), w.of("Ada", "Bo", "Cy"), 50+w.IntN(50), w.of("Di", "Ed", "Flo"))}
	}},
	{"script", func(w writer) asked { return asked{raw: true, text: w.of(scripts...) + w.of("", " ", "\n", "…")} }},
	{"rules", func(w writer) asked { // all begin alike
		return asked{text: "Rules:\n- Answer in one sentence.\n- Do not use the letter q.\n- If the question is about the sea, say so first.\n- Numbers are written as words, up to twelve.\n\nQuestion: " + w.of("How many legs has a spider?", "Why is the sea salty?", "What is rust?", "Who was Ada?") + w.of("", " Be brief.", " Explain.")}
	}},
	{"table", func(w writer) asked {
		return asked{raw: true, text: fmt.Sprintf("| month | rain | sun |\n|---|---|---|\n| May | %d | %d |\n| June | %d | %d |\n| July |", w.IntN(99), w.IntN(300), w.IntN(99), w.IntN(300))}
	}},
}

// usualMost is how many tokens are compared of most answers.
const usualMost = 12

// manyPrompts makes n different prompts, always the same ones. No names of kinds mean
// all kinds.
func manyPrompts(n int, names ...string) []asked {
	w := writer{rand.New(rand.NewPCG(7, 11))}
	var all []asked
	for i := 0; len(all) < n; i++ {
		kind := kinds[i%len(kinds)]
		if len(names) > 0 && !slices.Contains(names, kind.name) {
			continue
		}
		a := kind.make(w)
		a.kind = kind.name
		if a.most == 0 {
			a.most = usualMost
		}
		if !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}
