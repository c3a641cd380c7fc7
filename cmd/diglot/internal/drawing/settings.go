package drawing

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/diglot/diglot/engine"
)

// Set sets a parameter of a request by its name on the command line. Errors are ends
// of sentences.
func Set(req *engine.ImageRequest, name, value string) error {
	i := slices.IndexFunc(parameters, func(p parameter) bool { return p.name == name })
	if i < 0 {
		return fmt.Errorf("%s is unknown for an image model; known are %s", name, strings.Join(names(), ", "))
	}
	if err := parameters[i].set(req, value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

type parameter struct {
	name string
	set  func(req *engine.ImageRequest, value string) error
}

// parameters are named as in a Modelfile, or as in a request.
var parameters = []parameter{
	{"seed", func(r *engine.ImageRequest, v string) (err error) {
		r.Drawing.Seed, err = strconv.ParseUint(v, 10, 63)
		r.Drawing.Seeded = true
		return reason(err)
	}},
	{"steps", func(r *engine.ImageRequest, v string) error { return within(&r.Drawing.Steps, v, 1, 1000) }},
	{"cfg_scale", func(r *engine.ImageRequest, v string) (err error) {
		r.Drawing.Guidance, err = strconv.ParseFloat(v, 64)
		if err == nil && !(r.Drawing.Guidance > 0 && r.Drawing.Guidance < math.MaxFloat32) {
			return fmt.Errorf("%s is not a positive number", v)
		}
		return reason(err)
	}},
	{"sampler", func(r *engine.ImageRequest, v string) error { return text(&r.Drawing.Sampler, v) }},
	{"scheduler", func(r *engine.ImageRequest, v string) error { return text(&r.Drawing.Scheduler, v) }},
	{"negative_prompt", func(r *engine.ImageRequest, v string) error { return text(&r.Drawing.NegativePrompt, v) }},
	{"size", func(r *engine.ImageRequest, v string) error {
		width, height, _ := strings.Cut(v, "x")
		if err := within(&r.Width, width, 1, math.MaxUint16); err != nil {
			return fmt.Errorf("want WIDTHxHEIGHT: %w", err)
		}
		return within(&r.Height, height, 1, math.MaxUint16)
	}},
	{"quality", func(r *engine.ImageRequest, v string) error {
		return oneOf(&r.Quality, v, "low", "medium", "standard", "high", "hd", "xhigh", "max")
	}},
	{"style", func(r *engine.ImageRequest, v string) error { return oneOf(&r.Style, v, "vivid", "natural") }},
}

func names() []string {
	var all []string
	for _, p := range parameters {
		all = append(all, p.name)
	}
	return all
}

func text(to *string, value string) error {
	*to = value
	return nil
}

func oneOf(to *string, value string, values ...string) error {
	if !slices.Contains(values, value) {
		return fmt.Errorf("%q is not one of %s", value, strings.Join(values, ", "))
	}
	return text(to, value)
}

func within(to *int, value string, least, most int) error {
	n, err := strconv.Atoi(value)
	if err != nil {
		return reason(err)
	}
	if n < least || n > most {
		return fmt.Errorf("%d is not between %d and %d", n, least, most)
	}
	*to = n
	return nil
}

// reason is the end of a sentence about a number that cannot be parsed.
func reason(err error) error {
	if err == nil {
		return nil
	}
	if failed, ok := err.(*strconv.NumError); ok {
		return fmt.Errorf("%q is not a number: %w", failed.Num, failed.Err)
	}
	return err
}
