package engine

import (
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Sampling holds the parameters that choose the next token. A nil field is
// left to the Modelfile, then to what the model recommends, then to the
// default; a zero is obeyed.
//
// The tags are the only description of a parameter: Modelfiles, /set, merging,
// upstream requests, the runner's frames and replies read them through
// [SamplingParams], and need no line for a new field. The keys of a tag:
//
//	name      of the parameter in Modelfiles, /set and [Start.Ignored]
//	range     least and most
//	neutral   the value without effect; where all are neutral, the most likely token is chosen
//	default   where nobody sets it; absent: the neutral value; none: it stays nil
//	model     the metadata key below general.sampling where a GGUF recommends it, and the range believed there
//	upstream  the names that some servers have for it; "*": every server knows it by its name
//	help      for people
type Sampling struct {
	Temperature      *float64 `name:"temperature" range:"0 100" neutral:"0" default:"0.8" model:"temp 0 2" upstream:"*" help:"0 is always the most likely token, more is livelier"`
	TopP             *float64 `name:"top_p" range:"0 1" neutral:"1" default:"0.95" model:"top_p 0.001 1" upstream:"*" help:"0 to 1: how much probability the most likely tokens to choose from make up"`
	TopK             *int     `name:"top_k" range:"0 2147483647" neutral:"0" default:"40" model:"top_k" upstream:"top_k" help:"how many of the most likely tokens to choose from; 0 is all"`
	MinP             *float64 `name:"min_p" range:"0 1" neutral:"0" default:"0.05" model:"min_p" upstream:"min_p" help:"0 to 1: how likely a token must be, compared with the most likely one"`
	TypicalP         *float64 `name:"typical_p" range:"0 1" neutral:"1" upstream:"typical_p" help:"0 to 1: how much probability the tokens that are about as surprising as usual make up; 0 and 1 are all"`
	RepeatPenalty    *float64 `name:"repeat_penalty" range:"0 100" neutral:"1" upstream:"repeat_penalty repetition_penalty" help:"more than 1 makes repetitions rarer; 0 and 1 are none"`
	RepeatLastN      *int     `name:"repeat_last_n" range:"-1 16777216" neutral:"0" default:"64" upstream:"repeat_last_n" help:"how many tokens back repeat_penalty looks; 0 is none, -1 is all"`
	PresencePenalty  *float64 `name:"presence_penalty" range:"-100 100" neutral:"0" upstream:"*" help:"above 0, what was said once is rarer"`
	FrequencyPenalty *float64 `name:"frequency_penalty" range:"-100 100" neutral:"0" upstream:"*" help:"above 0, what was said often is rarer"`
	Seed             *int64   `name:"seed" neutral:"0" default:"none" upstream:"*" help:"a whole number: the same one gives the same answer again"`
	LogitBias        map[int]float64
}

// SamplingParam describes one parameter, as the tag of its field in [Sampling]
// says. Values are float64, or int64 where it is whole.
type SamplingParam struct {
	Name         string
	Whole        bool
	Range        Range
	Neutral      any
	Default      any    // nil: none
	Model        string // empty: no file recommends it
	Recommended  Range  // for Model
	Upstream     []string
	Everywhere   bool // every server knows it by Name, and Upstream is empty
	Help         string
	indexOfField int
}

// Range is what a number may be.
type Range struct{ Min, Max float64 }

// Has reports whether the range has a number; it has no NaN.
func (r Range) Has(x float64) bool { return x >= r.Min && x <= r.Max }

// SamplingParams lists the parameters that are one number, in the order of the
// fields of [Sampling].
func SamplingParams() iter.Seq[*SamplingParam] { return slices.Values(samplingParams) }

func isSamplingParam(name string) bool {
	return slices.ContainsFunc(samplingParams, func(p *SamplingParam) bool { return p.Name == name })
}

var samplingParams = readSamplingParams()

func readSamplingParams() []*SamplingParam {
	var all []*SamplingParam
	for i := range reflect.TypeFor[Sampling]().NumField() {
		if f := reflect.TypeFor[Sampling]().Field(i); f.Type.Kind() == reflect.Pointer {
			all = append(all, readSamplingParam(f, i))
		}
	}
	return all
}

// readSamplingParam panics where a tag makes no sense: no program starts then.
func readSamplingParam(f reflect.StructField, index int) *SamplingParam {
	p := &SamplingParam{
		Name: f.Tag.Get("name"), Help: f.Tag.Get("help"), indexOfField: index,
		Whole:    f.Type.Elem().Kind() != reflect.Float64,
		Upstream: strings.Fields(f.Tag.Get("upstream")),
		Range:    Range{math.MinInt64, math.MaxInt64},
	}
	if words := strings.Fields(f.Tag.Get("range")); len(words) > 0 {
		p.Range = readRange(f.Name, words)
	}
	if words := strings.Fields(f.Tag.Get("model")); len(words) > 0 {
		p.Model, p.Recommended = words[0], p.Range
		if len(words) > 1 {
			p.Recommended = readRange(f.Name, words[1:])
		}
	}
	if p.Everywhere = slices.Equal(p.Upstream, []string{"*"}); p.Everywhere {
		p.Upstream = nil
	}
	p.Neutral = p.Value(readNumber(f.Name, f.Tag.Get("neutral")))
	switch text, ok := f.Tag.Lookup("default"); {
	case !ok:
		p.Default = p.Neutral
	case text != "none":
		p.Default = p.Value(readNumber(f.Name, text))
	}
	return p
}

func readRange(field string, words []string) Range {
	return Range{readNumber(field, words[0]), readNumber(field, words[1])}
}

func readNumber(field, text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("tag of Sampling.%s: %v", field, err))
	}
	return x
}

// Value makes a value of a number.
func (p *SamplingParam) Value(x float64) any {
	if p.Whole {
		return int64(x)
	}
	return x
}

func (p *SamplingParam) field(s *Sampling) reflect.Value {
	return reflect.ValueOf(s).Elem().Field(p.indexOfField)
}

// Get returns the value that is set; nil: none.
func (p *SamplingParam) Get(s *Sampling) any {
	field := p.field(s)
	switch {
	case field.IsNil():
		return nil
	case p.Whole:
		return field.Elem().Int()
	}
	return field.Elem().Float()
}

// Set sets the value; nil: to none.
func (p *SamplingParam) Set(s *Sampling, value any) {
	field := p.field(s)
	if value == nil {
		field.SetZero()
		return
	}
	pointer := reflect.New(field.Type().Elem())
	pointer.Elem().Set(reflect.ValueOf(value).Convert(pointer.Elem().Type()))
	field.Set(pointer)
}

// InRange reports whether the parameter is absent or in its range.
func (p *SamplingParam) InRange(s *Sampling) bool {
	switch value := p.Get(s).(type) {
	case int64:
		return p.Range.Has(float64(value))
	case float64:
		return p.Range.Has(value)
	}
	return true
}

// Fill sets the fields that are nil to those of other.
func (s *Sampling) Fill(other Sampling) {
	own, from := reflect.ValueOf(s).Elem(), reflect.ValueOf(other)
	for i := range own.NumField() {
		if field := own.Field(i); field.IsNil() {
			field.Set(from.Field(i))
		}
	}
}

// DefaultSampling holds the defaults: those of llama.cpp, which its users know.
func DefaultSampling() Sampling { return defaultSampling }

// NeutralSampling holds the neutral values.
func NeutralSampling() Sampling { return neutralSampling }

var (
	defaultSampling = samplingOf(func(p *SamplingParam) any { return p.Default })
	neutralSampling = samplingOf(func(p *SamplingParam) any { return p.Neutral })
)

func samplingOf(value func(*SamplingParam) any) (s Sampling) {
	for p := range SamplingParams() {
		p.Set(&s, value(p))
	}
	return s
}
