package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/diglot/diglot/cmd/diglot/internal/build"
	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/engine/diffusion"
	"github.com/diglot/diglot/engine/local/llamacpp"
	"github.com/diglot/diglot/engine/models/library"
	"github.com/diglot/diglot/engine/models/modelfile"
)

// Files is the repeatable flag NAME=FILE[,PROJECTOR].
type Files []library.File

func (m *Files) String() string {
	var all []string
	for _, f := range *m {
		all = append(all, argument(f))
	}
	return strings.Join(all, " ")
}

// argument formats a file for the flag.
func argument(f library.File) string {
	if len(f.Parts) > 0 {
		return f.Name + "=" + strings.Join(f.Parts, ",")
	}
	if f.Projector == "" {
		return f.Name + "=" + f.Path
	}
	return f.Name + "=" + f.Path + "," + f.Projector
}

func (m *Files) Type() string { return "file" }

func (m *Files) Set(value string) error {
	name, list, ok := strings.Cut(value, "=")
	files := strings.Split(list, ",")
	if !ok || name == "" || slices.Contains(files, "") {
		return errors.New("want NAME=FILE, or NAME=FILE,PROJECTOR, or NAME=FILE,PART... for an image model")
	}
	f := library.File{Name: name}
	switch {
	case draws(files): // only by reading them can they be told apart
		f.Parts = files
	case len(files) > 2:
		return errors.New("more than two files make an image model, and none of these is a diffusion model")
	case len(files) == 2:
		f.Path, f.Projector = files[0], files[1]
	default:
		f.Path = files[0]
	}
	*m = append(*m, f)
	return nil
}

// draws reports whether files make an image model, and puts the diffusion model
// first.
func draws(files []string) bool {
	for i, path := range files {
		if p, err := diffusion.Inspect(path); err == nil && p.Draws() {
			files[0], files[i] = files[i], files[0]
			return true
		}
	}
	return false
}

// Check finds files that cannot be loaded, before the first client does.
func (m Files) Check() error {
	text := false
	for _, f := range m {
		if len(f.Parts) > 0 {
			if _, err := diffusion.Open(f.Parts); err != nil {
				return fmt.Errorf("model %q: %w", f.Name, err)
			}
			continue
		}
		text = true
		if err := llamacpp.Check(f.Path); err != nil {
			return fmt.Errorf("model %q: %s: %w", f.Name, f.Path, err)
		}
		if err := llamacpp.CheckProjector(f.Path, f.Projector); err != nil {
			return fmt.Errorf("model %q: %w", f.Name, err)
		}
	}
	if text && !build.HasLlamacpp() {
		return errors.New("this program was built without llama.cpp and cannot run GGUF models; build it with `make build`")
	}
	return nil
}

// Limits are the flags that limit a model. serve passes them to its runners.
type Limits struct {
	Threads, Parallel, Context flagvalue.Number
	Kernels                    Kernels
	Draft                      Draft
}

// Register adds the flags to those of a command.
func (l *Limits) Register(set *pflag.FlagSet) {
	set.Var(flagvalue.Within{To: &l.Threads, Least: 1, Most: modelfile.MaxThreads}, "threads", "compute with at most `N` threads, fewer while other processes need the cores (default the number of physical cores)")
	set.Var(flagvalue.Within{To: &l.Parallel, Least: 1, Most: llamacpp.MaxParallel}, "parallel", "run up to `N` concurrent requests per model (default 8)")
	set.Var(&l.Kernels, "kernels", "compute matrix products with our own kernels or, to find faults, with ggml's alone: `NAME` is own or ggml")
	set.Var(&l.Draft, "draft", "guess further tokens and check them together, where that is faster: `NAME` is auto, none to turn that off, or a smaller model that guesses too, in the store or as FILE.gguf, with the vocabulary of the models that are served; not for texts with images")
	set.Var(flagvalue.Within{To: &l.Context, Least: 1, Most: modelfile.MaxContext}, "context", "limit prompt and answer of a request to `N` tokens (default the model's training context, as far as memory allows)")
}

// args formats the limits as flags.
func (l Limits) args() []string {
	var args []string
	for _, f := range []struct {
		name  string
		value flagvalue.Number
	}{{"--threads", l.Threads}, {"--parallel", l.Parallel}, {"--context", l.Context}} {
		if f.value > 0 {
			args = append(args, f.name, f.value.String())
		}
	}
	return slices.Concat(args, l.Kernels.args(), l.Draft.args())
}

// Kernels is the flag that says whose kernels compute matrix products.
type Kernels llamacpp.Kernels

func (k *Kernels) String() string { return llamacpp.Kernels(*k).String() }

func (k *Kernels) Type() string { return "name" }

func (k *Kernels) Set(value string) error {
	for _, known := range []llamacpp.Kernels{llamacpp.KernelsOwn, llamacpp.KernelsGGML} {
		if value == known.String() {
			*k = Kernels(known)
			return nil
		}
	}
	return errors.New("want own or ggml")
}

// args formats the flag, unless it is the default.
func (k Kernels) args() []string {
	if llamacpp.Kernels(k) == llamacpp.KernelsOwn {
		return nil
	}
	return []string{"--kernels", k.String()}
}

// Changes are the flags that change a model.
type Changes struct {
	Template string // file of a Jinja or Go template; empty: the model's own
	Adapters flagvalue.List

	Strengths []float64 // of the LoRAs of an image model
}

// Register adds the flags to those of a command.
func (c *Changes) Register(set *pflag.FlagSet) {
	set.StringVar(&c.Template, "template", "", "use the chat template in `FILE` instead of the model's own")
	set.Var(&c.Adapters, "adapter", "apply the LoRA adapter in `FILE`; repeatable")
	set.Float64SliceVar(&c.Strengths, "lora-strength", nil, "apply the LoRAs of an image model with these strengths, such as 0.8,0.5")
}

// args formats the changes as flags.
func (c Changes) args() []string {
	var args []string
	if c.Template != "" {
		args = append(args, "--template", c.Template)
	}
	for _, path := range c.Adapters {
		args = append(args, "--adapter", path)
	}
	for _, s := range c.Strengths {
		args = append(args, "--lora-strength="+strconv.FormatFloat(s, 'g', -1, 64))
	}
	return args
}

// maxTemplate bounds a template file, in bytes.
const maxTemplate = 1 << 20

// source reads the template. It is empty for the model's own.
func (c Changes) source() (string, error) {
	if c.Template == "" {
		return "", nil
	}
	file, err := os.Open(c.Template)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxTemplate+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > maxTemplate:
		return "", fmt.Errorf("the template %s has more than %d bytes", c.Template, maxTemplate)
	case strings.TrimSpace(string(text)) == "":
		return "", fmt.Errorf("the template %s is empty", c.Template)
	}
	return string(text), nil
}
