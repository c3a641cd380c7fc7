package modelfile

import (
	"math"

	"github.com/diglot/diglot/engine"
)

// Parameters are what the PARAMETER lines of a definition set. What is nil or
// empty is left to the model and the server.
type Parameters struct {
	Context   *int // num_ctx: tokens that one request may use, prompt and answer
	Threads   *int // num_thread: that compute
	MaxTokens *int // num_predict: most tokens of one answer
	Stop      []string
	Sampling  engine.Sampling

	// AffinityHeader, affinity_header, is for a model that is served elsewhere:
	// see [Remote].
	AffinityHeader string
}

// kind is what the value of a parameter is.
type kind int

const (
	whole  kind = iota // int64
	number             // float64
	truth              // bool
	texts              // []string: the parameter may be given more than once
	word               // string
	header             // string: the name of a header of HTTP, or [noHeader]
)

// parameter is one that a definition may set.
type parameter struct {
	name     string
	kind     kind
	min, max float64 // of a whole and a number

	set func(*Parameters, any) // nil: it has no effect here
	why string                 // it has none, as the end of a sentence
}

// Bounds that keep a definition from asking for nonsense. They are far above
// what models can use: the longest contexts have 10 million tokens.
const (
	MaxContext = 1 << 24
	MaxThreads = 1 << 10
	maxCount   = math.MaxInt32
	maxFactor  = 100
	maxStops   = 256
	maxStop    = 1 << 10 // bytes
)

// parameterModel is the one that a server elsewhere knows its model by. It is
// part of the config, not of the layer with the others.
const parameterModel = "model"

// parameterAffinity means something for a model that is served elsewhere alone.
const parameterAffinity = "affinity_header"

// The reasons that several parameters share.
const (
	placed    = "how a model is placed in memory is decided when it is loaded"
	inFile    = "the file of the model says it"
	otherMode = "this way of sampling is not implemented; temperature, top_k, top_p, min_p and typical_p are"
)

// table holds every parameter that Ollama documents, or did once. Files on the
// web have them all.
var table = append(samplingParameters(), []parameter{
	{name: "num_ctx", kind: whole, min: 1, max: MaxContext, set: func(p *Parameters, v any) { p.Context = count(v) }},
	{name: "num_thread", kind: whole, min: 0, max: MaxThreads, set: func(p *Parameters, v any) { p.Threads = positive(v) }},
	// -1 is no limit and -2 is what the context leaves; both are what no limit is here.
	{name: "num_predict", kind: whole, min: -2, max: maxCount, set: func(p *Parameters, v any) { p.MaxTokens = positive(v) }},
	{name: "stop", kind: texts, set: func(p *Parameters, v any) { p.Stop = v.([]string) }},
	{name: parameterAffinity, kind: header, set: func(p *Parameters, v any) { p.AffinityHeader = v.(string) }},

	{name: "num_keep", kind: whole, min: -1, max: MaxContext, why: "a conversation that is too long is refused, or loses whole turns, and never its middle"},
	{name: "num_batch", kind: whole, min: 0, max: MaxContext, why: "how many tokens are read at once depends on what else is computed"},
	{name: "num_gpu", kind: whole, min: -1, max: maxCount, why: placed},
	{name: "main_gpu", kind: whole, min: -1, max: maxCount, why: placed},
	{name: "use_mmap", kind: truth, why: placed},
	{name: "use_mlock", kind: truth, why: placed},
	{name: "low_vram", kind: truth, why: placed},
	{name: "numa", kind: truth, why: placed},
	{name: "f16_kv", kind: truth, why: placed},
	{name: "logits_all", kind: truth, why: "a request asks for logprobs"},
	{name: "vocab_only", kind: truth, why: "a model without its weights answers nothing"},
	{name: "embedding_only", kind: truth, why: "every model can be asked for what it can do"},
	{name: "penalize_newline", kind: truth, why: "repeat_penalty counts ends of lines as it counts other tokens"},
	{name: "mirostat", kind: whole, min: 0, max: 2, why: otherMode},
	{name: "mirostat_tau", kind: number, min: 0, max: maxFactor, why: otherMode},
	{name: "mirostat_eta", kind: number, min: 0, max: maxFactor, why: otherMode},
	{name: "tfs_z", kind: number, min: 0, max: maxFactor, why: otherMode},
	{name: "num_gqa", kind: whole, min: 0, max: maxCount, why: inFile},
	{name: "rope_frequency_base", kind: number, min: 0, max: math.MaxFloat32, why: inFile},
	{name: "rope_frequency_scale", kind: number, min: 0, max: math.MaxFloat32, why: inFile},
	{name: parameterModel, kind: word, why: "it names a model of another server"},
}...)

// samplingParameters are those of [engine.Sampling].
func samplingParameters() []parameter {
	var all []parameter
	for p := range engine.SamplingParams() {
		own := parameter{name: p.Name, kind: number, min: p.Range.Min, max: p.Range.Max}
		if p.Whole {
			own.kind = whole
		}
		own.set = func(all *Parameters, v any) { p.Set(&all.Sampling, v) }
		if adapt, ok := negative[p.Name]; ok {
			own.min = min(own.min, -1)
			own.set = func(all *Parameters, v any) { p.Set(&all.Sampling, adapt(v.(int64))) }
		}
		all = append(all, own)
	}
	return all
}

// negative is what Ollama means by numbers below zero: all tokens, and another
// seed for each answer.
var negative = map[string]func(int64) any{
	"top_k": func(k int64) any { return max(k, 0) },
	"seed": func(seed int64) any {
		if seed < 0 {
			return nil
		}
		return seed
	},
}

func count(v any) *int { return new(int(v.(int64))) }

// positive is nil for what leaves the choice to the server.
func positive(v any) *int {
	if n := count(v); *n > 0 {
		return n
	}
	return nil
}

// find looks a parameter up.
func find(name string) (parameter, bool) {
	for _, p := range table {
		if p.name == name {
			return p, true
		}
	}
	return parameter{}, false
}
