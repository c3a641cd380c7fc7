package conversation

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/diglot/diglot/engine"
)

// Settings are what the user can set. Nil, empty and zero are the model's default.
type Settings struct {
	System    string
	Sampling  engine.Sampling
	MaxTokens *int
	Stop      []string
	Reasoning engine.ReasoningMode
	Format    engine.Format
	Verbose   bool // print timings after each answer
}

// setting describes one of the Settings for /set.
type setting struct {
	name, help string
	set        func(s *Settings, value string) error // empty: model default
	get        func(s *Settings) string              // empty: model default
}

// settings in the order of /set.
var settings = slices.Concat([]setting{
	{"system", "TEXT: system prompt",
		func(s *Settings, v string) error { s.System = v; return nil },
		func(s *Settings) string { return s.System }},
}, samplingSettings(), []setting{
	{"max_tokens", "maximum tokens of an answer", setMaxTokens, getMaxTokens},
	{"stop", "TEXT: stop string",
		func(s *Settings, v string) error {
			s.Stop = nil
			if v != "" {
				s.Stop = []string{v}
			}
			return nil
		},
		func(s *Settings) string { return strings.Join(s.Stop, " ") }},
	words("think", "on or off: reasoning before the answer",
		map[string]engine.ReasoningMode{"on": engine.ReasoningOn, "off": engine.ReasoningOff, "": engine.ReasoningDefault},
		func(s *Settings) *engine.ReasoningMode { return &s.Reasoning }),
	words("format", "json or text: format of answers",
		map[string]engine.FormatKind{"json": engine.FormatJSON, "text": engine.FormatText, "": engine.FormatText},
		func(s *Settings) *engine.FormatKind { return &s.Format.Kind }),
	words("verbose", "on or off: timings after each answer",
		map[string]bool{"on": true, "off": false, "": false},
		func(s *Settings) *bool { return &s.Verbose }),
})

// otherNames are the names in Modelfiles.
var otherNames = map[string]string{"num_predict": "max_tokens"}

// ofTheModel are parameters that are fixed when a model is loaded, with a value for
// the example in the error.
var ofTheModel = map[string]string{"num_ctx": "8192", "num_thread": "4", "draft": "qwen2.5:0.5b"}

// Set changes a setting. An empty value resets it. The error is for the user.
func (s *Settings) Set(name, value string) error {
	if other, ok := otherNames[name]; ok {
		name = other
	}
	if example, ok := ofTheModel[name]; ok {
		if value != "" {
			example = value
		}
		return fmt.Errorf("%s is fixed when the model is loaded: add PARAMETER %[1]s %s to a Modelfile (diglot show NAME --modelfile prints one), create a model from it with diglot create, and use that", name, example)
	}
	for _, k := range settings {
		if k.name != name {
			continue
		}
		if err := k.set(s, value); err != nil {
			return fmt.Errorf("%s is %w, not %q", name, err, value)
		}
		return nil
	}
	return fmt.Errorf("unknown setting %q; /set lists all", name)
}

// samplingSettings are the parameters of [engine.Sampling].
func samplingSettings() []setting {
	var all []setting
	for p := range engine.SamplingParams() {
		all = append(all, setting{p.Name, p.Help,
			func(s *Settings, text string) error {
				value, err := readNumber(p, text)
				if err == nil {
					p.Set(&s.Sampling, value)
				}
				return err
			},
			func(s *Settings) string {
				switch v := p.Get(&s.Sampling).(type) {
				case int64:
					return strconv.FormatInt(v, 10)
				case float64:
					return strconv.FormatFloat(v, 'g', -1, 64)
				}
				return ""
			}})
	}
	return all
}

// readNumber parses the value of a parameter; nil: model default.
func readNumber(p *engine.SamplingParam, text string) (any, error) {
	switch {
	case text == "":
		return nil, nil
	case p.Whole:
		return readWhole(p, text)
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !p.Range.Has(x) {
		return nil, fmt.Errorf("a number from %v to %v", p.Range.Min, p.Range.Max)
	}
	return x, nil
}

func readWhole(p *engine.SamplingParam, text string) (any, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err == nil && p.Range.Has(float64(n)):
		return n, nil
	case p.Range.Min == math.MinInt64:
		return nil, errors.New("a whole number")
	}
	return nil, fmt.Errorf("a whole number of at least %v", p.Range.Min)
}

func setMaxTokens(s *Settings, text string) error {
	s.MaxTokens = nil
	if text == "" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return errors.New("a whole number of at least 1")
	}
	s.MaxTokens = new(int(n))
	return nil
}

func getMaxTokens(s *Settings) string {
	if s.MaxTokens == nil {
		return ""
	}
	return strconv.Itoa(*s.MaxTokens)
}

// words is a setting with a fixed set of values.
func words[T comparable](name, help string, values map[string]T, place func(*Settings) *T) setting {
	return setting{name, help,
		func(s *Settings, v string) error {
			value, ok := values[v]
			if !ok {
				choice, _, _ := strings.Cut(help, ":")
				return errors.New(choice)
			}
			*place(s) = value
			return nil
		},
		func(s *Settings) string {
			for word, value := range values {
				if word != "" && value == *place(s) {
					return word
				}
			}
			return ""
		}}
}

// Choice is a setting with a value.
type Choice struct{ Name, Value string }

// Choices lists the settings with a value, as for [Settings.Set].
func (s *Settings) Choices() []Choice {
	var all []Choice
	for _, k := range settings {
		if value := k.get(s); value != "" {
			all = append(all, Choice{k.name, value})
		}
	}
	return all
}
