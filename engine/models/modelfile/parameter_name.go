package modelfile

import (
	"cmp"
	"slices"
	"strings"
)

// secrets are words in names of parameters for keys. A Modelfile is pushed with
// its model, so it must contain no keys. It must not name environment variables
// either: a stranger's Modelfile could send them to a stranger's host.
var secrets = []string{"key", "keys", "apikey", "token", "secret", "password", "passwd", "credential", "credentials", "auth", "authorization", "bearer", "env"}

// unknown is the end of the error for an unknown parameter. host is the remote
// server, for the hint how to store a key; empty for a local model.
func unknown(name, host string) string {
	if ours, ok := synonyms[name]; ok {
		return "is unknown; use " + ours
	}
	for _, w := range strings.Split(name, "_") {
		if slices.Contains(secrets, w) {
			return "is refused: a Modelfile is pushed with its model and must not contain keys; run: diglot login " + cmp.Or(host, "HOST")
		}
	}
	if near := nearest(name); len(near) > 0 {
		return "is unknown; did you mean " + strings.Join(near, " or ") + "?"
	}
	return "is unknown; known are " + strings.Join(allNames(), ", ")
}

// synonyms are names of other programs for these parameters.
var synonyms = map[string]string{
	"ctx": "num_ctx", "n_ctx": "num_ctx", "ctx_size": "num_ctx", "context": "num_ctx", "context_length": "num_ctx", "context_size": "num_ctx", "max_model_len": "num_ctx",
	"max_tokens": "num_predict", "max_new_tokens": "num_predict", "n_predict": "num_predict", "max_completion_tokens": "num_predict", "max_output_tokens": "num_predict",
	"cfg": "cfg_scale", "adapter_strength": "lora_strength", "lora_scale": "lora_strength", "guidance_scale": "cfg_scale", "num_inference_steps": "steps", "sample_steps": "steps", "sampling_method": "sampler", "negative": "negative_prompt",
	"draft_model": "draft", "model_draft": "draft", "speculative_model": "draft",
	"repetition_penalty": "repeat_penalty", "threads": "num_thread", "n_threads": "num_thread", "temp": "temperature",
	"stop_sequences": "stop", "stop_sequence": "stop", "typ_p": "typical_p", "typical": "typical_p",
}

// allNames are the parameters that have an effect, sorted.
func allNames() []string {
	var all []string
	for _, p := range table {
		if p.set != nil {
			all = append(all, p.name)
		}
	}
	slices.Sort(all)
	return all
}

// nearest returns parameters with a similar name, most similar first.
func nearest(name string) []string {
	const few = 3
	type match struct {
		name     string
		distance int
	}
	var matches []match
	for _, p := range table {
		// At most half of a short name, and at most 3 letters, may differ.
		if d := distance(name, p.name); d <= min(few, len(p.name)/2) || len(name) >= few && strings.HasPrefix(p.name, name) {
			matches = append(matches, match{p.name, d})
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int { return a.distance - b.distance })
	var near []string
	for _, m := range matches[:min(len(matches), few)] {
		near = append(near, m.name)
	}
	return near
}

// distance is the Levenshtein distance.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			last, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, last+cost)
		}
	}
	return row[len(b)]
}
