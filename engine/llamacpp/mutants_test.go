//go:build llamacpp && cgo

package llamacpp

import (
	"bufio"
	"context"
	"errors"
	flags "flag"
	"fmt"
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
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/inspection/inspectiontest"
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
// all architectures, some of which have other sizes than usual, and the heads of
// the models that the tests use.
func TestMutants(t *testing.T) {
	originals := originals(t)
	random := rand.New(rand.NewPCG(*mutantSeed, 0))
	farm := &mutantFarm{t: t, folder: t.TempDir(), counts: map[string]int{}}
	for i := range *mutantCount {
		original := originals[i%len(originals)]
		// The real files are big, and each takes as long as many small ones.
		if original.real && i/len(originals)%8 != 0 {
			original = originals[random.IntN(len(originals))]
		}
		farm.try(original.mutant(random))
	}
	farm.close()
	t.Logf("%d files with the seed %d: %v", *mutantCount, *mutantSeed, farm.counts)
	if farm.counts["refused"] == 0 || farm.counts["answered"] == 0 {
		t.Errorf("the mutations are too strong or too weak: %v", farm.counts)
	}
}

// TestEveryArchitecture loads a small model of each, made by the table of what
// it needs, and asks it everything.
func TestEveryArchitecture(t *testing.T) {
	farm := &mutantFarm{t: t, folder: t.TempDir(), counts: map[string]int{}}
	for _, o := range originals(t) {
		if o.real {
			continue
		}
		before := farm.counts["answered"]
		if farm.try(o.parts, o.name); farm.counts["answered"] == before {
			t.Errorf("%s: %s", o.name, farm.last)
		}
	}
	farm.close()
}

// original is a file that is mutated.
type original struct {
	name   string
	parts  *inspectiontest.Parts
	recipe *inspectiontest.Recipe // what it is made by; nil: it is a real one
	real   bool
}

func originals(t *testing.T) []original {
	t.Helper()
	recipes, err := inspectiontest.Recipes(*mutantSeed)
	if err != nil {
		t.Fatal(err)
	}
	var all []original
	for _, r := range recipes {
		parts, err := inspectiontest.Model(r, *mutantSeed)
		if err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		all = append(all, original{name: r.Name, parts: parts, recipe: &r})
	}
	for _, name := range []string{"smollm2-135m", "gemma3-270m", "minilm", "qwen2.5-coder-0.5b"} {
		f, err := os.Open(modelFile(t, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		parts, err := inspectiontest.TakeApart(f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, original{name: name, parts: parts, real: true})
	}
	rand.New(rand.NewPCG(*mutantSeed, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// mutant is a changed file, and what is changed. A small one is made anew with
// other sizes now and then.
func (o original) mutant(random *rand.Rand) (*inspectiontest.Parts, string) {
	parts, what := o.parts, ""
	if o.recipe != nil && random.IntN(3) == 0 {
		resized, note := inspectiontest.Resize(*o.recipe, random)
		if made, err := inspectiontest.Model(resized, 1); err == nil { // else it cannot even be written
			parts, what = made, note+"; "
		}
	}
	parts = parts.Clone()
	if what == "" || random.IntN(3) == 0 {
		what += inspectiontest.Mutate(parts, random)
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

	child  *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	errors *tail
}

// patience is how long a file may take.
const patience = time.Minute

func (f *mutantFarm) try(parts *inspectiontest.Parts, what string) {
	f.t.Helper()
	path := filepath.Join(f.folder, "m.gguf")
	if err := parts.Write(path); err != nil {
		f.t.Fatal(err)
	}
	if !*mutantUnchecked {
		if _, err := inspect(path); err != nil {
			f.counts["refused"]++
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
	fmt.Fprintln(f.in, path)
	for f.out.Scan() {
		if verdict, ok := strings.CutPrefix(f.out.Text(), "verdict: "); ok {
			kind, reason, _ := strings.Cut(verdict, ": ")
			f.counts[kind]++
			f.last = verdict
			if testing.Verbose() && kind != "answered" {
				f.t.Logf("%s\n\t%s: %s", what, kind, reason)
			}
			return
		}
	}
	f.counts["crashed"]++
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
		fmt.Println("verdict: " + tryFile(in.Text(), mode == "checked"))
	}
}

// tryFile loads a file and asks it what a first client may ask.
func tryFile(path string, checked bool) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience/2)
	defer cancel()
	options := Options{Path: path, Threads: 1, Parallel: 2, Available: func() (int64, error) { return 1 << 30, nil }}.withDefaults()
	var file *gguf.File
	var err error
	if checked {
		file, err = inspect(path)
	} else {
		file, err = gguf.Open(path)
	}
	if err != nil {
		return "refused: " + oneLine(err)
	}
	m, err := open(ctx, options, file)
	var known *engine.Error
	switch {
	case errors.As(err, &known) && known.Code == engine.CodeUnsupported:
		return "too big: " + oneLine(err)
	case err != nil:
		return "not loaded: " + oneLine(err)
	}
	defer m.Close()
	if err := askEverything(ctx, m); err != nil {
		return "failed: " + oneLine(err)
	}
	return "answered: "
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// askEverything makes a model tokenize, write, make vectors and spell.
func askEverything(ctx context.Context, m *Model) error {
	const text = "The quick brown fox, in 2024:\n\tжук 漢字 🙂 <|im_start|> <0x0A> \\x the end"
	tokens, err := m.Tokenize(ctx, chat.Prompt{Spans: []chat.Span{{Text: text}, {Text: text, Plain: true}}})
	if err != nil {
		return fmt.Errorf("tokenizing: %w", err)
	}
	if len(tokens) > 40 {
		tokens = tokens[:40]
	}
	input, err := m.TokenizeInput(ctx, text)
	if err != nil {
		return fmt.Errorf("tokenizing an input: %w", err)
	}
	for token := range min(m.vocab.size(), 300) {
		_ = m.vocab.spelled(int32(token))
	}
	if m.loop != nil {
		for _, job := range []chat.Job{{Prompt: tokens, MaxTokens: 3}, {Prompt: tokens, MaxTokens: 2, Sampling: chat.Sampling{Temperature: 1}, Logprobs: new(2)}} {
			if _, err := decode(ctx, m, job); err != nil {
				return fmt.Errorf("writing: %w", err)
			}
		}
	}
	if len(input) > m.info.Vectors.Input || len(input) == 0 {
		return nil
	}
	if _, err := m.Embed(ctx, [][]int32{input, input[:1]}); err != nil {
		return fmt.Errorf("making vectors: %w", err)
	}
	return nil
}
