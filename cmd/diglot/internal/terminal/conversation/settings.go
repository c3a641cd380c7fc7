package conversation

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/diglot/diglot/engine"
)

// Settings are what a person can choose. What is nil, empty or zero is as the
// model likes.
type Settings struct {
	System    string
	Sampling  engine.Sampling
	MaxTokens *int
	Stop      []string
	Reasoning engine.ReasoningMode
	Format    engine.Format
	Verbose   bool // say after each answer how long it took
}

// setting is one of the Settings as /set knows it.
type setting struct {
	name, help string
	set        func(s *Settings, value string) error // an empty value: as the model likes
	get        func(s *Settings) string              // empty: as the model likes
}

// settings are in the order that /set lists them.
var settings = []setting{
	{"system", "TEXT: what the model is told before all else",
		func(s *Settings, v string) error { s.System = v; return nil },
		func(s *Settings) string { return s.System }},
	number("temperature", "0 is the likeliest answer, more is livelier", 0, 100, func(s *Settings) **float64 { return &s.Sampling.Temperature }),
	number("top_p", "0 to 1: how much of the likeliest tokens is chosen from", 0, 1, func(s *Settings) **float64 { return &s.Sampling.TopP }),
	number("min_p", "0 to 1: how likely a token must be, beside the likeliest", 0, 1, func(s *Settings) **float64 { return &s.Sampling.MinP }),
	count("top_k", "how many of the likeliest tokens are chosen from; 0 is all", 0, func(s *Settings) **int { return &s.Sampling.TopK }),
	number("repeat_penalty", "more than 1 makes repetitions rarer", 0, 100, func(s *Settings) **float64 { return &s.Sampling.RepeatPenalty }),
	count("repeat_last_n", "how many tokens back repeat_penalty looks; 0 is none, -1 is all", -1, func(s *Settings) **int { return &s.Sampling.RepeatLastN }),
	number("typical_p", "0 to 1: how much of the tokens that are about as likely as usual is chosen from", 0, 1, func(s *Settings) **float64 { return &s.Sampling.TypicalP }),
	number("presence_penalty", "-2 to 2: above 0, what was said once is rarer", -2, 2, func(s *Settings) **float64 { return &s.Sampling.PresencePenalty }),
	number("frequency_penalty", "-2 to 2: above 0, what was said often is rarer", -2, 2, func(s *Settings) **float64 { return &s.Sampling.FrequencyPenalty }),
	{"seed", "a whole number: the same one gives the same answer again", setSeed, getSeed},
	count("max_tokens", "the most tokens of an answer", 1, func(s *Settings) **int { return &s.MaxTokens }),
	{"stop", "TEXT: where an answer ends",
		func(s *Settings, v string) error {
			s.Stop = nil
			if v != "" {
				s.Stop = []string{v}
			}
			return nil
		},
		func(s *Settings) string { return strings.Join(s.Stop, " ") }},
	words("think", "on or off: whether the model thinks before it answers",
		map[string]engine.ReasoningMode{"on": engine.ReasoningOn, "off": engine.ReasoningOff, "": engine.ReasoningDefault},
		func(s *Settings) *engine.ReasoningMode { return &s.Reasoning }),
	words("format", "json or text: what an answer is",
		map[string]engine.FormatKind{"json": engine.FormatJSON, "text": engine.FormatText, "": engine.FormatText},
		func(s *Settings) *engine.FormatKind { return &s.Format.Kind }),
	words("verbose", "on or off: whether times are shown after an answer",
		map[string]bool{"on": true, "off": false, "": false},
		func(s *Settings) *bool { return &s.Verbose }),
}

// otherNames are what definition files call a setting.
var otherNames = map[string]string{"num_predict": "max_tokens"}

// ofTheModel are parameters that count when a model is loaded, which
// conversations share, with a value for the example.
var ofTheModel = map[string]string{"num_ctx": "8192", "num_thread": "4"}

// Set changes the setting called name. An empty value leaves it to the model.
// The error is a sentence for the person.
func (s *Settings) Set(name, value string) error {
	if other, ok := otherNames[name]; ok {
		name = other
	}
	if example, ok := ofTheModel[name]; ok {
		if value != "" {
			example = value
		}
		return fmt.Errorf("%s belongs to the model and not to a conversation: write PARAMETER %[1]s %s into a definition file (diglot show NAME --modelfile prints one), make a model of it with diglot create, and use that", name, example)
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
	return fmt.Errorf("there is no setting %q; /set lists them", name)
}

func number(name, help string, least, most float64, place func(*Settings) **float64) setting {
	return setting{name, help,
		func(s *Settings, v string) error {
			if v == "" {
				*place(s) = nil
				return nil
			}
			n, err := strconv.ParseFloat(v, 64)
			if err != nil || !(n >= least && n <= most) { // not a number is neither
				return fmt.Errorf("a number from %v to %v", least, most)
			}
			*place(s) = &n
			return nil
		},
		func(s *Settings) string {
			if n := *place(s); n != nil {
				return strconv.FormatFloat(*n, 'g', -1, 64)
			}
			return ""
		}}
}

func count(name, help string, least int, place func(*Settings) **int) setting {
	return setting{name, help,
		func(s *Settings, v string) error {
			if v == "" {
				*place(s) = nil
				return nil
			}
			n, err := strconv.ParseInt(v, 10, 32)
			if err != nil || int(n) < least {
				return fmt.Errorf("a whole number of at least %d", least)
			}
			*place(s) = new(int(n))
			return nil
		},
		func(s *Settings) string {
			if n := *place(s); n != nil {
				return strconv.Itoa(*n)
			}
			return ""
		}}
}

// words is a setting that has one of a few values.
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

func setSeed(s *Settings, v string) error {
	if v == "" {
		s.Sampling.Seed = nil
		return nil
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return errors.New("a whole number")
	}
	s.Sampling.Seed = &n
	return nil
}

func getSeed(s *Settings) string {
	if s.Sampling.Seed == nil {
		return ""
	}
	return strconv.FormatInt(*s.Sampling.Seed, 10)
}

// Choice is a setting that is not left to the model.
type Choice struct{ Name, Value string }

// Choices lists what is set, in the words of [Settings.Set].
func (s *Settings) Choices() []Choice {
	var all []Choice
	for _, k := range settings {
		if value := k.get(s); value != "" {
			all = append(all, Choice{k.name, value})
		}
	}
	return all
}
