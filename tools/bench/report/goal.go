package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// goal is what the project wants of a workload: a ratio of its own figure to another
// server's.
type goal struct {
	about            string
	workload, metric string
	higher           bool // the ratio is to be at least the limit, not at most
	limits           map[string]func(Model) float64
}

const (
	own      = "diglot"
	newest   = "llama-server"
	quickest = "ik_llama.cpp"
)

func constant(limit float64) func(Model) float64 { return func(Model) float64 { return limit } }

// firstToken is lower for formats whose weights are quickly unpacked.
func firstToken(m Model) float64 {
	if slices.Contains([]string{"Q4_0", "Q4_1", "Q8_0"}, m.Quantization) {
		return 0.30
	}
	return 0.48
}

// decoding is lower for large models, which memory limits.
func decoding(m Model) float64 {
	switch {
	case m.Parameters < 300e6:
		return 1.30
	case m.Parameters < 1e9:
		return 1.20
	}
	return 1.00
}

func limits(against, beside float64) map[string]func(Model) float64 {
	return map[string]func(Model) float64{newest: constant(against), quickest: constant(beside)}
}

var goals = []goal{
	{"first token, 512 tokens", "first-512", "time", false, map[string]func(Model) float64{newest: firstToken, quickest: constant(1)}},
	{"first token, 4,096 tokens", "first-4096", "time", false, map[string]func(Model) float64{newest: firstToken, quickest: constant(1)}},
	{"decode, one stream", "decode", "rate", true, map[string]func(Model) float64{newest: decoding, quickest: constant(1)}},
	{"eight streams, total", "streams-8", "rate", true, limits(2.0, 1.10)},
	{"ten agent turns", "agent", "time", false, limits(0.55, 0.95)},
	{"schema output", "schema", "rate", true, limits(1.5, 1.2)},
	{"copy-edit text, decode", "edit", "rate", true, limits(2.0, 1.5)},
	{"eight with one prefix", "prefix-8", "time", false, limits(0.10, 0.25)},
	{"n=8, for as many tokens", "choices", "time", false, limits(0.45, 0.9)},
	{"256 embeddings", "embeddings", "time", false, limits(0.5, 1.0)},
	{"start to first token", "start", "time", false, limits(1.0, 1.0)},
	{"peak memory", "memory", "peak", false, limits(1.05, 1.05)},
	{"decode beside a busy process", "busy", "rate", true, limits(2.0, 1.5)},
}

// bandwidthGoal is the share of the measured bandwidth that decoding a large model is to
// take.
const (
	bandwidthGoal = 0.85
	largeModel    = 1e9
)

// verdict is a goal, and what was measured.
type verdict struct {
	about, model, against string
	wanted, measured      string
	reached               string
}

// verdicts holds the results to the goals that a model has figures for.
func (r Results) verdicts() []verdict {
	var all []verdict
	for _, m := range r.Models {
		for _, g := range goals {
			if _, ok := m.find(g.workload, g.metric, own); !ok {
				continue
			}
			for _, base := range []string{newest, quickest} {
				if slices.ContainsFunc(r.Servers, func(s Server) bool { return s.Name == base }) {
					all = append(all, g.judge(m, base))
				}
			}
		}
		if v, ok := r.bandwidth(m); ok {
			all = append(all, v)
		}
	}
	slices.SortStableFunc(all, func(a, b verdict) int { return cmp.Compare(a.model, b.model) })
	return all
}

func (g goal) judge(m Model, base string) verdict {
	limit := g.limits[base](m)
	v := verdict{about: g.about, model: m.Name, against: base, wanted: "<= " + number(limit), measured: "", reached: "not measured"}
	if g.higher {
		v.wanted = ">= " + number(limit)
	}
	s, ok := m.ratio(g.workload, g.metric, own, base)
	if !ok {
		return v
	}
	v.measured = fmt.Sprintf("%s (%s to %s)", number(s.Median), number(s.LowerQuartile), number(s.UpperQuartile))
	v.reached = "**not reached**"
	if g.higher && s.Median >= limit || !g.higher && s.Median <= limit {
		v.reached = "reached"
	}
	return v
}

func (r Results) bandwidth(m Model) (verdict, bool) {
	f, ok := m.find("decode", "rate", own)
	if !ok || m.Parameters < largeModel {
		return verdict{}, false
	}
	share, ok := r.share(m, f)
	v := verdict{about: "decode, share of bandwidth", model: m.Name, against: "the machine", wanted: fmt.Sprintf(">= %.0f %%", 100*bandwidthGoal), reached: "not measured"}
	if !ok {
		return v, true
	}
	v.measured, v.reached = fmt.Sprintf("%.0f %%", 100*share), "**not reached**"
	if share >= bandwidthGoal {
		v.reached = "reached"
	}
	return v, true
}

// share is the part of what the machine can do that a figure takes: of the bandwidth for
// decode, of the multiplications for a prompt.
func (r Results) share(m Model, f Figure) (float64, bool) {
	if r.Ceilings == nil || f.Metric.Name != "rate" {
		return 0, false
	}
	switch {
	case f.Workload == "decode":
		read := r.Ceilings.Read[m.ReadPerToken].PerSecond
		return f.Summary.Median * float64(m.ReadPerToken) / read, read > 0 && m.ReadPerToken > 0
	case strings.HasPrefix(f.Workload, "first-"):
		most := r.multiplications(m)
		each := float64(m.Multiplications) + float64(m.AttentionFactor)*promptLength(f.Workload)/2
		return f.Summary.Median * each / most.PerSecond, most.PerSecond > 0 && m.Multiplications > 0
	}
	return 0, false
}

// promptLength is the number of tokens in the name of a workload.
func promptLength(workload string) float64 {
	var n float64
	_, _ = fmt.Sscanf(workload, "first-%g", &n) // else it is none
	return n
}
