//go:build llamacpp && cgo

package llamacpp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	flags "flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/engine/local/inspection/inspectiontest"
	"github.com/diglot/diglot/engine/picture"
)

var (
	mutantSeed      = flags.Uint64("mutants.seed", 1, "chooses the mutations of files")
	mutantCount     = flags.Int("mutants.count", 2000, "how many files are mutated")
	mutantUnchecked = flags.Bool("mutants.unchecked", false, "load them without looking at them, to see what that is good for")
	mutantKeep      = flags.String("mutants.keep", "", "a folder for the files that end the process")
)

// insideKey says to TestMutantsInside that it is the process that loads.
const insideKey = "DIGLOT_TEST_MUTANTS"

// TestMutants changes the heads of files: each is then refused with a reason, or
// it is loaded and answers, and the process lives on. The files are small ones of
// all architectures and of all types of projectors, some of which have other
// sizes than usual, adapters, and some of the files that the tests use.
func TestMutants(t *testing.T) {
	originals := originals(t)
	random := rand.New(rand.NewPCG(*mutantSeed, 0))
	farm := &mutantFarm{t: t, folder: t.TempDir(), counts: map[string]int{}, pictures: []image.Point{{9, 7}, {1, 100}}}
	for i := range *mutantCount {
		original := originals[i%len(originals)]
		// The real files are big, and each takes as long as many small ones.
		if original.real && i/len(originals)%8 != 0 {
			original = originals[random.IntN(len(originals))]
		}
		parts, what := original.mutant(random)
		farm.try(original.role, parts, what)
	}
	farm.close()
	t.Logf("%d files with the seed %d: %v", *mutantCount, *mutantSeed, farm.counts)
	if farm.counts["refused"] == 0 || farm.counts["answered"] == 0 {
		t.Errorf("the mutations are too strong or too weak: %v", farm.counts)
	}
}

// TestEveryArchitecture loads a small model of each, made by the table of what
// it needs, and asks it everything; projectors of all types too, and adapters.
func TestEveryArchitecture(t *testing.T) {
	farm := &mutantFarm{t: t, folder: t.TempDir(), counts: map[string]int{}}
	for _, o := range originals(t) {
		if o.real || strings.HasSuffix(o.name, " with some") {
			continue
		}
		farm.pictures = []image.Point{{9, 7}, {1, 300}}
		if strings.HasSuffix(o.name, " with none") {
			farm.pictures = []image.Point{{50, 40}, {picture.MaxSide, 1}}
		}
		before := farm.counts["answered"]
		if farm.try(o.role, o.parts, o.name); farm.counts["answered"] == before {
			t.Errorf("%s: %s", o.name, farm.last)
		}
	}
	farm.close()
}

// role says what a file is for: a model, or beside one.
type role struct {
	kind  string // "model", "projector" or "adapter"
	model string // path of the one that it is beside
}

// original is a file that is mutated.
type original struct {
	role   role
	name   string
	parts  *gguf.Draft
	recipe *inspectiontest.Recipe // what it is made by; nil: it is none of a few sizes
	real   bool
}

func originals(t *testing.T) []original {
	t.Helper()
	all := smallModels(t)
	all = append(all, smallProjectors(t)...)
	all = append(all, realFiles(t)...)
	rand.New(rand.NewPCG(*mutantSeed, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func made(t *testing.T, r inspectiontest.Recipe) *gguf.Draft {
	t.Helper()
	parts, err := inspectiontest.Model(r, *mutantSeed)
	if err != nil {
		t.Fatalf("%s: %v", r.Name, err)
	}
	return parts
}

func written(t *testing.T, parts *gguf.Draft) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "beside.gguf")
	if err := parts.Write(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// smallModels are made ones, and adapters for some.
func smallModels(t *testing.T) []original {
	t.Helper()
	recipes, err := inspectiontest.Recipes(*mutantSeed)
	if err != nil {
		t.Fatal(err)
	}
	var all []original
	for i, r := range recipes {
		o := original{role{kind: "model"}, r.Name, made(t, r), &r, false}
		all = append(all, o)
		if i%16 == 0 {
			all = append(all, original{role{"adapter", written(t, o.parts)}, "adapter for " + r.Name, loraFor(o.parts, *mutantSeed), nil, false})
		}
	}
	return all
}

func smallProjectors(t *testing.T) []original {
	t.Helper()
	recipes, err := inspectiontest.Projectors(*mutantSeed)
	if err != nil {
		t.Fatal(err)
	}
	models := map[string]string{} // by type
	var all []original
	for _, r := range recipes {
		if models[r.Projector] == "" {
			models[r.Projector] = written(t, made(t, inspectiontest.Seeing(r.Projector)))
		}
		all = append(all, original{role{"projector", models[r.Projector]}, r.Name, made(t, r), &r, false})
	}
	return all
}

// realFiles are some that the tests use.
func realFiles(t *testing.T) []original {
	t.Helper()
	var all []original
	for _, name := range []string{"smollm2-135m", "gemma3-270m", "minilm"} {
		path := modelFile(t, name)
		parts, err := gguf.DraftOf(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, original{role{kind: "model"}, name, parts, nil, true})
	}
	return all
}

// mutant is a changed file, and what is changed. A small one is made anew with
// other sizes now and then.
func (o original) mutant(random *rand.Rand) (*gguf.Draft, string) {
	parts, what := o.parts, ""
	if o.recipe != nil && random.IntN(3) == 0 {
		resized, note := resize(*o.recipe, random)
		if made, err := inspectiontest.Model(resized, 1); err == nil { // else it cannot even be written
			parts, what = made, note+"; "
		}
	}
	parts = parts.Clone()
	if what == "" || random.IntN(3) == 0 {
		what += mutateHeader(parts, random)
	}
	return parts, o.name + ": " + what
}

// mutantFarm gives files to a process that loads them, and to another one where
// that ended.
type mutantFarm struct {
	t      *testing.T
	folder string
	counts map[string]int
	last   string // verdict

	pictures []image.Point // see triedFiles

	child  *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	errors *tail
}

// patience is how long a file may take.
const patience = time.Minute

func (f *mutantFarm) try(r role, parts *gguf.Draft, what string) {
	f.t.Helper()
	path := filepath.Join(f.folder, "m.gguf")
	if err := parts.Write(path); err != nil {
		f.t.Fatal(err)
	}
	files := triedFiles{Model: path, Pictures: f.pictures}
	switch r.kind {
	case "projector":
		files.Model, files.Projector = r.model, path
	case "adapter":
		files.Model, files.Adapter = r.model, path
	}
	if !*mutantUnchecked {
		if _, err := files.check(); err != nil {
			f.count(r, "refused")
			f.last = err.Error()
			return
		}
	}
	if f.child == nil {
		f.start()
	}
	child := f.child
	timer := time.AfterFunc(patience, func() { _ = child.Process.Kill() })
	defer timer.Stop()
	if err := json.NewEncoder(f.in).Encode(files); err != nil {
		f.t.Fatal(err)
	}
	for f.out.Scan() {
		if verdict, ok := strings.CutPrefix(f.out.Text(), "verdict: "); ok {
			kind, reason, _ := strings.Cut(verdict, ": ")
			f.count(r, kind)
			f.last = verdict
			if testing.Verbose() && kind != "answered" {
				f.t.Logf("%s\n\t%s: %s", what, kind, reason)
			}
			return
		}
	}
	f.count(r, "crashed")
	f.last = "crashed"
	err := f.child.Wait()
	f.t.Errorf("%s\n\tthe process ended: %v\n%s", what, err, f.errors)
	f.child = nil
	if *mutantKeep != "" {
		name := filepath.Join(*mutantKeep, fmt.Sprintf("%d-%d.gguf", *mutantSeed, f.counts["crashed"]))
		if err := parts.Write(name); err != nil {
			f.t.Error(err)
		}
	}
}

// count counts a verdict, in all and for files of the role.
func (f *mutantFarm) count(r role, verdict string) {
	f.counts[verdict]++
	f.counts[r.kind+" "+verdict]++
}

func (f *mutantFarm) start() {
	f.t.Helper()
	self, err := os.Executable()
	if err != nil {
		f.t.Fatal(err)
	}
	f.child = exec.Command(self, "-test.run=^TestMutantsInside$", "-test.v")
	f.child.Env = append(os.Environ(), insideKey+"="+map[bool]string{true: "unchecked", false: "checked"}[*mutantUnchecked], "GGML_NO_BACKTRACE=1", "GOTRACEBACK=1")
	f.errors = &tail{}
	f.child.Stderr = f.errors
	if f.in, err = f.child.StdinPipe(); err != nil {
		f.t.Fatal(err)
	}
	out, err := f.child.StdoutPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	f.out = bufio.NewScanner(out)
	f.out.Buffer(nil, 1<<20)
	if err := f.child.Start(); err != nil {
		f.t.Fatal(err)
	}
}

func (f *mutantFarm) close() {
	if f.child == nil {
		return
	}
	f.in.Close()
	for f.out.Scan() {
	}
	if err := f.child.Wait(); err != nil {
		f.t.Errorf("the process that loads: %v\n%s", err, f.errors)
	}
}

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if len(t.text) > 1<<16 {
		t.text = t.text[len(t.text)-1<<15:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.text)
	if i := strings.Index(text, "\ngoroutine "); i >= 0 {
		text = text[:min(i+1200, len(text))] // what C was called
	}
	return text[max(len(text)-3000, 0):]
}

// TestMutantsInside is the process that [TestMutants] starts: it loads files
// that are named on its standard input.
func TestMutantsInside(t *testing.T) {
	mode := os.Getenv(insideKey)
	if mode == "" {
		return
	}
	limitMemory(t)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var files triedFiles
		if err := json.Unmarshal(in.Bytes(), &files); err != nil {
			t.Fatal(err)
		}
		fmt.Println("verdict: " + files.try(mode == "checked"))
	}
}

// triedFiles are those of a model, one of them changed.
type triedFiles struct {
	Model, Projector, Adapter string
	Pictures                  []image.Point // sizes of those that a model that sees is shown
}

func (f triedFiles) options() Options {
	o := Options{Path: f.Model, Projector: f.Projector, Threads: 1, Parallel: 2, Available: func() (int64, error) { return 1 << 30, nil }}
	if f.Adapter != "" {
		o.Adapters = []string{f.Adapter}
	}
	return o.withDefaults()
}

func (f triedFiles) check() (*gguf.File, error) {
	file, err := inspect(f.Model)
	if err == nil {
		err = f.options().check(file)
	}
	return file, err
}

// try loads the files and asks what a first client may ask.
func (f triedFiles) try(checked bool) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience/2)
	defer cancel()
	var file *gguf.File
	var err error
	if checked {
		file, err = f.check()
	} else {
		file, err = gguf.Open(f.Model)
	}
	if err != nil {
		return "refused: " + oneLine(err)
	}
	c, err := configure(ctx, f.options(), file)
	var known *engine.Error
	switch {
	case errors.As(err, &known) && known.Code == engine.CodeUnsupported:
		return "too big: " + oneLine(err)
	case err != nil:
		return "not loaded: " + oneLine(err)
	}
	m := decode.New(c)
	defer m.Close()
	if err := askEverything(ctx, m, f.Pictures); err != nil {
		return "failed: " + oneLine(err)
	}
	return "answered: "
}

func oneLine(err error) string {
	text := err.Error()
	if cause := errors.Unwrap(engine.AsError(err)); cause != nil {
		text += ": " + cause.Error()
	}
	return strings.Join(strings.Fields(text), " ")
}

// askEverything makes a model tokenize, write, make vectors and spell.
func askEverything(ctx context.Context, m *decode.Model, sizes []image.Point) error {
	text := "The quick brown fox, in 2024:\n\tжук 漢字 🙂 <|im_start|> <0x0A> \\x the end"
	text = text[:min(len(text), max(m.Info().Context/4, 1))] // not more tokens than it can read
	tokens, err := m.Tokenize(ctx, prompt.Prompt{Spans: []prompt.Span{{Text: text}, {Text: text, Special: true}}})
	if err != nil {
		return fmt.Errorf("tokenizing: %w", err)
	}
	tokens = tokens[:min(len(tokens), 40, max(m.Info().Context-4, 1))]
	input, err := m.TokenizeInput(ctx, text)
	if err != nil {
		return fmt.Errorf("tokenizing an input: %w", err)
	}
	for token := range min(m.Vocabulary().Size(), 300) {
		_ = m.Vocabulary().Text(int32(token))
	}
	if m.Info().Vision {
		if err := showPictures(ctx, m, tokens, sizes); err != nil {
			return fmt.Errorf("seeing: %w", err)
		}
	}
	if !m.Info().Vectors.Only {
		for _, job := range []chat.Job{{Prompt: tokens, MaxTokens: 3}, {Prompt: tokens, MaxTokens: 2, Sampling: engine.Sampling{Temperature: new(1.0)}, Logprobs: new(2)}} {
			if _, err := answerOf(ctx, m, job); err != nil {
				return fmt.Errorf("writing: %w", err)
			}
		}
	}
	if len(input) > m.Info().Vectors.Input || len(input) == 0 {
		return nil
	}
	if _, err := m.Embed(ctx, [][]int32{input, input[:1]}); err != nil {
		return fmt.Errorf("making vectors: %w", err)
	}
	return nil
}

// showPictures lets a model look at pictures of some sizes.
func showPictures(ctx context.Context, m *decode.Model, tokens []int32, sizes []image.Point) error {
	for _, size := range sizes {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rectangle{Max: size})); err != nil {
			return err
		}
		p, err := picture.Open(b.Bytes(), "image/png")
		if err != nil {
			return err
		}
		all, err := imagePrompt(ctx, m, p)
		if err != nil {
			return err
		}
		all = append(all, tokens...)
		if len(all) > m.Info().Context {
			continue
		}
		if _, err := answerOf(ctx, m, chat.Job{Prompt: all, Images: []*prompt.Image{{Picture: p}}, MaxTokens: 1}); err != nil {
			return err
		}
	}
	return nil
}
