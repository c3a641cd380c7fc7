package format

import "slices"

// ByName finds a format.
func ByName(name string) (*Format, bool) {
	i := slices.IndexFunc(formats, func(f *Format) bool { return f.Name == name })
	if i < 0 {
		return nil, false
	}
	return formats[i], true
}

// Names lists the formats, sorted.
func Names() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	slices.Sort(names)
	return names
}

// formats is every format there is.
var formats = []*Format{plain, hermes, llama3, mistral, deepseek, qwenCoder, glm, minimax, dsml, harmony, gemma, lfm2, olmo3, kimi, functionary, commandR, apertus, nemotron, granite}

// Names of formats that other packages refer to.
const (
	Hermes  = "hermes"
	Llama3  = "llama3"
	Harmony = "harmony"
	Kimi    = "kimi"
)

// PlainText is the format without reasoning and tool calls.
func PlainText() *Format { return plain }

var plain = &Format{Name: "plain"}
