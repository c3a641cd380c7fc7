//go:build imagegen

package sdcpp

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/diffusion"
	"github.com/diglot/diglot/engine/diffusion/diffusiontest"
	"github.com/diglot/diglot/engine/imagegen"
)

// built finds the library of "make imagegen".
func built(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	path, err := Find(Places{Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// shared has the one library of this process, and the files of a model.
var shared = sync.OnceValues(func() (*Library, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	path, err := Find(Places{Cache: cache})
	if err != nil {
		return nil, err
	}
	return Open(path, slog.New(slog.DiscardHandler))
})

func library(t *testing.T) *Library {
	t.Helper()
	built(t)
	l, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// written has a model, which takes a while to write.
var written = sync.OnceValues(func() (diffusion.Model, error) {
	model, autoencoder := filepath.Join(folder, "m"), filepath.Join(folder, "a")
	if err := errors.Join(diffusiontest.Write(model, autoencoder), diffusiontest.WriteLoRA(filepath.Join(folder, "lora.safetensors"))); err != nil {
		return diffusion.Model{}, err
	}
	return diffusion.Open([]string{model, autoencoder})
})

// folder is for all tests.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "sdcpp-"); err != nil {
		panic(err) // no test can run
	}
	status := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(status)
}

func miniature(t *testing.T) diffusion.Model {
	t.Helper()
	built(t) // or nobody would use it
	m, err := written()
	if err != nil {
		t.Fatal(err)
	}
	m.Parts = slices.Clone(m.Parts)
	return m
}

func load(t *testing.T, parts diffusion.Model, strengths ...float64) *Model {
	t.Helper()
	m, err := library(t).Load(Options{Name: "m", Parts: parts, Threads: 1, Log: slog.New(slog.DiscardHandler), Strengths: strengths})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func draw(t *testing.T, m *Model, job imagegen.Job) *image.NRGBA {
	t.Helper()
	drawn, err := m.Draw(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return drawn.(*image.NRGBA)
}

// TestDraw holds each picture beside the one of the engine's own command line.
func TestDraw(t *testing.T) {
	path := built(t)
	parts := miniature(t)
	m := load(t, parts)
	base := imagegen.Job{Prompt: "a red house", Size: image.Pt(64, 64), Seed: 42, Steps: 2, Guidance: 1}
	changed := func(change func(*imagegen.Job)) imagegen.Job {
		job := base
		change(&job)
		return job
	}
	seen := map[string]string{}
	for _, tt := range []struct {
		name string
		job  imagegen.Job
	}{
		{"base", base},
		{"another prompt, seed and size", changed(func(j *imagegen.Job) { j.Prompt, j.Seed, j.Size = "a blue house", 43, image.Pt(64, 96) })},
		{"guidance, a sampler, a scheduler and more steps", changed(func(j *imagegen.Job) {
			j.Guidance, j.NegativePrompt, j.Sampler, j.Scheduler, j.Steps = 3, "green", "heun", "karras", 3
		})},
	} {
		drawn := draw(t, m, tt.job)
		if drawn.Rect.Max != tt.job.Size {
			t.Errorf("%s: %v instead of %v", tt.name, drawn.Rect.Max, tt.job.Size)
		}
		if !bytes.Equal(drawn.Pix, commandLine(t, path, parts, tt.job).Pix) {
			t.Errorf("%s: the engine's command line draws another image", tt.name)
		}
		if other, ok := seen[string(drawn.Pix)]; ok {
			t.Errorf("%s: the same image as %s", tt.name, other)
		}
		seen[string(drawn.Pix)] = tt.name
	}
	if again := draw(t, m, base); seen[string(again.Pix)] != "base" {
		t.Error("the same job has another image the second time")
	}
}

// commandLine draws a job with sd-cli.
func commandLine(t *testing.T, library string, m diffusion.Model, job imagegen.Job, more ...string) *image.NRGBA {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.png")
	args := []string{
		"-m", m.Path(diffusion.Whole), "--taesd", m.Path(diffusion.TAE), "-t", "1", "-o", out,
		"-p", job.Prompt, "-n", job.NegativePrompt, "-W", strconv.Itoa(job.Size.X), "-H", strconv.Itoa(job.Size.Y), "-s", strconv.FormatUint(job.Seed, 10),
		"--steps", strconv.Itoa(job.Steps), "--cfg-scale", strconv.FormatFloat(job.Guidance, 'g', -1, 64),
	}
	args = append(args, more...)
	if job.Sampler != "" {
		args = append(args, "--sampling-method", job.Sampler)
	}
	if job.Scheduler != "" {
		args = append(args, "--scheduler", job.Scheduler)
	}
	if said, err := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(library), "sd-cli"), args...).CombinedOutput(); err != nil {
		t.Fatalf("sd-cli: %v\n%s", err, said)
	}
	file, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	drawn, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	to := image.NewNRGBA(drawn.Bounds())
	for y := range to.Rect.Max.Y {
		for x := range to.Rect.Max.X {
			to.Set(x, y, drawn.At(x, y))
		}
	}
	return to
}

// TestCancel ends an image after its first step. The model then draws the next one,
// as if there had been none.
func TestCancel(t *testing.T) {
	parts := miniature(t)
	m := load(t, parts)
	job := imagegen.Job{Prompt: "p", Size: image.Pt(64, 64), Seed: 1, Steps: 4, Guidance: 1}
	want := draw(t, m, job)
	ctx, cancel := context.WithCancel(t.Context())
	before := m.steps.Load()
	steps := 0
	m.options.Log = slog.New(observer{slog.DiscardHandler, func() {
		if steps++; steps == 2 { // before the first step, and after it
			cancel()
		}
	}})
	_, err := m.Draw(ctx, job)
	if got := engine.AsError(err); err == nil || got.Code != engine.CodeCanceled || m.steps.Load()-before != 2 {
		t.Errorf("error %v after %d reports", err, m.steps.Load()-before)
	}
	if _, err := m.Draw(ctx, job); err == nil || engine.AsError(err).Code != engine.CodeCanceled {
		t.Errorf("nobody waits: error %v", err)
	}
	if !bytes.Equal(draw(t, m, job).Pix, want.Pix) {
		t.Error("the next image differs")
	}
}

// observer is a log that is told of each line.
type observer struct {
	slog.Handler
	told func()
}

func (observer) Enabled(context.Context, slog.Level) bool    { return true }
func (o observer) Handle(context.Context, slog.Record) error { o.told(); return nil }

// TestNames: the names of samplers and schedulers are those of the library.
func TestNames(t *testing.T) {
	l := library(t)
	for _, tt := range []struct {
		what  string
		names []string
		name  func(int32) *byte
	}{{"samplers", diffusion.Samplers(), l.sampler}, {"schedulers", diffusion.Schedulers(), l.planner}} {
		var names []string
		for n := int32(0); goString(tt.name(n)) != "NONE"; n++ {
			names = append(names, goString(tt.name(n)))
		}
		if !slices.Equal(names, tt.names) {
			t.Errorf("%s: %q, and the library has %q", tt.what, tt.names, names)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	m := load(t, miniature(t))
	for _, job := range []imagegen.Job{{Sampler: "none"}, {Scheduler: "none"}} {
		job.Prompt, job.Size, job.Steps = "p", image.Pt(64, 64), 1
		_, err := m.Draw(t.Context(), job)
		if e := engine.AsError(err); err == nil || e.Code != engine.CodeInvalidArgument || !strings.Contains(e.Message, `"none"`) {
			t.Errorf("%+v: error %v", job, err)
		}
	}
}

// TestLoadFails: files that are intact, and are no model that the library knows.
func TestLoadFails(t *testing.T) {
	parts := miniature(t)
	parts.Parts = parts.Parts[1:] // only the autoencoder
	_, err := library(t).Load(Options{Name: "m", Parts: parts, Threads: 1, Log: slog.New(slog.DiscardHandler)})
	if e := engine.AsError(err); err == nil || e.Code != engine.CodeUnsupported || !e.NoRetry || errors.Unwrap(e) == nil {
		t.Errorf("error %v", err)
	}
}

// TestOtherLibraries: what is no library of "make imagegen" is refused.
func TestOtherLibraries(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(text, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "cannot be loaded") {
		t.Errorf("a text: error %v", err)
	}
	const system = "libc.so.6"
	if _, err := Open(system, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "make imagegen") && !strings.Contains(err.Error(), "cannot be loaded") {
		t.Errorf("the C library: error %v", err)
	}
}
