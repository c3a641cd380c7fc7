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

// Sampling holds the sampling parameters. A nil field falls back to the
// Modelfile, then to the model's recommendation, then to the default; an
// explicit zero is obeyed.
//
// A new field needs nothing but its tag: Modelfiles, /set, merging, upstream
// requests, the runner's frames and replies read [SamplingParams]. The keys:
//
//	name      in Modelfiles, /set and [Start.Ignored]
//	range     minimum and maximum
//	neutral   value without effect; all neutral is greedy decoding
//	default   if nobody sets it; absent: the neutral value; none: it stays nil
//	model     key below general.sampling in GGUF metadata, and the range accepted from there
//	upstream  names that some servers have for it; "*": all servers know it by its name
//	help      shown to users
type Sampling struct {
	Temperature      *float64 `name:"temperature" range:"0 100" neutral:"0" default:"0.8" model:"temp 0 2" upstream:"*" help:"0 always picks the most likely token, higher is more random"`
	TopP             *float64 `name:"top_p" range:"0 1" neutral:"1" default:"0.95" model:"top_p 0.001 1" upstream:"*" help:"0 to 1: sample from the most likely tokens that add up to this probability"`
	TopK             *int     `name:"top_k" range:"0 2147483647" neutral:"0" default:"40" model:"top_k" upstream:"top_k" help:"sample from this many of the most likely tokens; 0 is all"`
	MinP             *float64 `name:"min_p" range:"0 1" neutral:"0" default:"0.05" model:"min_p" upstream:"min_p" help:"0 to 1: minimum probability, relative to the most likely token"`
	TypicalP         *float64 `name:"typical_p" range:"0 1" neutral:"1" upstream:"typical_p" help:"0 to 1: sample from the most typical tokens that add up to this probability; 0 and 1 are off"`
	RepeatPenalty    *float64 `name:"repeat_penalty" range:"0 100" neutral:"1" upstream:"repeat_penalty repetition_penalty" help:"above 1 makes repetition less likely; 0 and 1 are off"`
	RepeatLastN      *int     `name:"repeat_last_n" range:"-1 16777216" neutral:"0" default:"64" upstream:"repeat_last_n" help:"how many of the last tokens repeat_penalty covers; 0 is none, -1 is all"`
	PresencePenalty  *float64 `name:"presence_penalty" range:"-100 100" neutral:"0" upstream:"*" help:"above 0 makes tokens that have occurred less likely"`
	FrequencyPenalty *float64 `name:"frequency_penalty" range:"-100 100" neutral:"0" upstream:"*" help:"above 0 makes tokens less likely with each occurrence"`
	Seed             *int64   `name:"seed" neutral:"0" default:"none" upstream:"*" help:"an integer: the same seed gives the same answer"`
	LogitBias        map[int]float64
}

// SamplingParam is the parsed tag of a field of [Sampling]. Values are
// float64, or int64 if Whole.
type SamplingParam struct {
	Name        string
	Whole       bool
	Range       Range
	Neutral     any
	Default     any    // nil: none
	Model       string // empty: no GGUF recommends it
	Recommended Range  // accepted from a GGUF
	Upstream    []string
	Everywhere  bool // every server knows it by Name, and Upstream is empty
	Help        string
	fieldIndex  int
}

// Range is an inclusive range.
type Range struct{ Min, Max float64 }

// Has reports whether x is in the range. NaN never is.
func (r Range) Has(x float64) bool { return x >= r.Min && x <= r.Max }

// SamplingParams yields the numeric parameters, in the order of the fields of
// [Sampling].
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

// readSamplingParam panics on a malformed tag, which keeps the program from starting.
func readSamplingParam(f reflect.StructField, index int) *SamplingParam {
	p := &SamplingParam{
		Name: f.Tag.Get("name"), Help: f.Tag.Get("help"), fieldIndex: index,
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
		panic(fmt.Sprintf("tag of Sampling.%s: %v", field, err)) // a mistake in this file
	}
	return x
}

// Value converts x to the parameter's type.
func (p *SamplingParam) Value(x float64) any {
	if p.Whole {
		return int64(x)
	}
	return x
}

func (p *SamplingParam) field(s *Sampling) reflect.Value {
	return reflect.ValueOf(s).Elem().Field(p.fieldIndex)
}

// Get returns the value; nil if it is not set.
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

// Set sets the value; nil unsets it.
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

// InRange reports whether the value is unset or in range.
func (p *SamplingParam) InRange(s *Sampling) bool {
	switch value := p.Get(s).(type) {
	case int64:
		return p.Range.Has(float64(value))
	case float64:
		return p.Range.Has(value)
	}
	return true
}

// Fill sets the nil fields of s to those of other.
func (s *Sampling) Fill(other Sampling) {
	own, from := reflect.ValueOf(s).Elem(), reflect.ValueOf(other)
	for i := range own.NumField() {
		if field := own.Field(i); field.IsNil() {
			field.Set(from.Field(i))
		}
	}
}

// DefaultSampling returns the defaults, which are those of llama.cpp.
func DefaultSampling() Sampling { return defaultSampling }

// NeutralSampling returns the neutral values.
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
