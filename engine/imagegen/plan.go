package imagegen

import (
	"cmp"
	"fmt"
	"image"
	"strings"

	"github.com/diglot/diglot/engine"
)

// job is the first image of a request.
func (i Info) job(req *engine.ImageRequest, size image.Point) Job {
	d := req.Drawing
	job := Job{Prompt: req.Prompt, Size: size, Seed: d.Seed, Quality: req.Quality, Style: req.Style}
	if i.Steps == 0 {
		return job
	}
	job.Steps = steps(cmp.Or(d.Steps, i.Steps), req.Quality)
	job.Guidance = cmp.Or(d.Guidance, i.Guidance)
	job.Sampler, job.Scheduler, job.NegativePrompt = d.Sampler, d.Scheduler, d.NegativePrompt
	if s, ok := styles[req.Style]; ok {
		job.Prompt += s.words
		if job.Guidance > 1 { // a distilled model is made for 1
			job.Guidance = max(job.Guidance*s.guidance, 1)
		}
	}
	return job
}

// applied is the quality of a request as replies name it.
func applied(quality string) string {
	switch quality {
	case "", "standard":
		return "medium"
	case "hd":
		return "high"
	}
	return quality
}

// steps is the number of steps for a quality.
func steps(usual int, quality string) int {
	switch quality {
	case "low":
		return max(usual/2, 1)
	case "high", "hd":
		return 2 * usual
	case "xhigh":
		return 3 * usual
	case "max":
		return 4 * usual
	}
	return usual
}

var styles = map[string]struct {
	words    string
	guidance float64 // factor
}{
	"vivid":   {", vivid colours, dramatic light, high contrast", 1.25},
	"natural": {", natural colours, natural light", 0.75},
}

// parameters describes an image in the form that other programs write and read.
func (i Info) parameters(job Job) string {
	if i.Software == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString(job.Prompt + "\n")
	if job.NegativePrompt != "" {
		b.WriteString("Negative prompt: " + job.NegativePrompt + "\n")
	}
	fmt.Fprintf(&b, "Steps: %d, CFG scale: %g, Seed: %d, Size: %dx%d, Model: %s", job.Steps, job.Guidance, job.Seed, job.Size.X, job.Size.Y, i.Name)
	if job.Sampler != "" {
		b.WriteString(", Sampler: " + strings.TrimSpace(job.Sampler+" "+job.Scheduler))
	}
	b.WriteString(", Version: " + i.Software)
	return b.String()
}
