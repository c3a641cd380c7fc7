package modelfile

import (
	"math"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/diffusion"
)

// Parameters are the PARAMETER lines of a Modelfile. Nil and empty fields are left
// to the model and the server.
type Parameters struct {
	Context   *int // num_ctx: tokens of prompt and answer
	Threads   *int // num_thread
	MaxTokens *int // num_predict: maximum tokens of an answer
	Stop      []string
	Draft     string // draft: name of a stored model that guesses tokens
	Sampling  engine.Sampling

	// Of image models. The seed is that of Sampling.
	Drawing   engine.Drawing
	Strengths []float64 // lora_strength: of the ADAPTER lines, in their order
	Width     int       // in pixels; 0: the model's default
	Height    int

	// AffinityHeader, affinity_header, is for a remote model: see [Remote].
	AffinityHeader string
}

// kind is the type of a parameter's value.
type kind int

const (
	whole   kind = iota // int64
	number              // float64
	numbers             // []float64: in one line
	truth               // bool
	texts               // []string: the parameter may be repeated
	word                // string
	line                // string
	choice              // string: one of the names
	header              // string: the name of an HTTP header, or [noHeader]
)

// parameter describes a PARAMETER.
type parameter struct {
	name     string
	kind     kind
	min, max float64 // for whole, number and numbers

	set func(*Parameters, any) // nil: no effect
	why string                 // reason without effect, the end of a sentence

	draws bool     // only for image models
	names []string // of a choice
}

// Bounds of parameters, far above what models can use: the longest contexts have
// 10 million tokens.
const (
	MaxContext = 1 << 24
	MaxThreads = 1 << 10
	maxCount   = math.MaxInt32
	maxFactor  = 100
	maxStops   = 256
	maxStop    = 1 << 10 // bytes
	maxLine    = 1 << 14 // bytes
	maxSteps   = 1000
	maxSide    = 1 << 14
)

// parameterModel names a model on its remote server. It is stored in the config,
// not in the layer of parameters.
const parameterModel = "model"

// parameterAffinity is only for remote models.
const parameterAffinity = "affinity_header"

// parameterDraft is only for models that generate text.
const parameterDraft = "draft"

// Reasons that several parameters share.
const (
	placed    = "memory placement is decided when the model is loaded"
	inFile    = "it is read from the GGUF file"
	otherMode = "this sampler is not implemented; temperature, top_k, top_p, min_p and typical_p are"
)

// table has every parameter that Ollama documents or once documented, because
// existing Modelfiles use them all.
var table = append(samplingParameters(), []parameter{
	{name: "num_ctx", kind: whole, min: 1, max: MaxContext, set: func(p *Parameters, v any) { p.Context = count(v) }},
	{name: "num_thread", kind: whole, min: 0, max: MaxThreads, set: func(p *Parameters, v any) { p.Threads = positive(v) }},
	// -1 is unlimited and -2 is the rest of the context, which is the same here.
	{name: "num_predict", kind: whole, min: -2, max: maxCount, set: func(p *Parameters, v any) { p.MaxTokens = positive(v) }},
	{name: "stop", kind: texts, set: func(p *Parameters, v any) { p.Stop = v.([]string) }},
	{name: parameterDraft, kind: line, set: func(p *Parameters, v any) { p.Draft = v.(string) }},
	{name: parameterAffinity, kind: header, set: func(p *Parameters, v any) { p.AffinityHeader = v.(string) }},

	{name: "steps", draws: true, kind: whole, min: 1, max: maxSteps, set: func(p *Parameters, v any) { p.Drawing.Steps = int(v.(int64)) }},
	{name: "cfg_scale", draws: true, kind: number, min: 0.01, max: maxFactor, set: func(p *Parameters, v any) { p.Drawing.Guidance = v.(float64) }},
	{name: "sampler", draws: true, kind: choice, names: diffusion.Samplers(), set: func(p *Parameters, v any) { p.Drawing.Sampler = v.(string) }},
	{name: "scheduler", draws: true, kind: choice, names: diffusion.Schedulers(), set: func(p *Parameters, v any) { p.Drawing.Scheduler = v.(string) }},
	{name: "negative_prompt", draws: true, kind: line, set: func(p *Parameters, v any) { p.Drawing.NegativePrompt = v.(string) }},
	{name: "lora_strength", draws: true, kind: numbers, min: -maxFactor, max: maxFactor, set: func(p *Parameters, v any) { p.Strengths = v.([]float64) }},
	{name: "width", draws: true, kind: whole, min: 1, max: maxSide, set: func(p *Parameters, v any) { p.Width = int(v.(int64)) }},
	{name: "height", draws: true, kind: whole, min: 1, max: maxSide, set: func(p *Parameters, v any) { p.Height = int(v.(int64)) }},

	{name: "num_keep", kind: whole, min: -1, max: MaxContext, why: "a conversation that is too long is refused or loses whole turns, never tokens in its middle"},
	{name: "num_batch", kind: whole, min: 0, max: MaxContext, why: "the size of prefill chunks depends on the load"},
	{name: "num_gpu", kind: whole, min: -1, max: maxCount, why: placed},
	{name: "main_gpu", kind: whole, min: -1, max: maxCount, why: placed},
	{name: "use_mmap", kind: truth, why: placed},
	{name: "use_mlock", kind: truth, why: placed},
	{name: "low_vram", kind: truth, why: placed},
	{name: "numa", kind: truth, why: placed},
	{name: "f16_kv", kind: truth, why: placed},
	{name: "logits_all", kind: truth, why: "logprobs are requested per request"},
	{name: "vocab_only", kind: truth, why: "a model needs its weights"},
	{name: "embedding_only", kind: truth, why: "a model serves every kind of request that it supports"},
	{name: "penalize_newline", kind: truth, why: "repeat_penalty treats newlines like other tokens"},
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

// negative adapts Ollama's negative numbers: all tokens, and a random seed.
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

// positive is nil for a value that leaves the choice to the server.
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
