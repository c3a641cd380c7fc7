package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/diglot/diglot/cmd/diglot/internal/build"
	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/engine/local/llamacpp"
	"github.com/diglot/diglot/engine/models/library"
	"github.com/diglot/diglot/engine/models/modelfile"
)

// Files is a flag NAME=FILE[,PROJECTOR] that may be repeated.
type Files []library.File

func (m *Files) String() string {
	var all []string
	for _, f := range *m {
		all = append(all, argument(f))
	}
	return strings.Join(all, " ")
}

// argument is a file as the flag has it.
func argument(f library.File) string {
	if f.Projector == "" {
		return f.Name + "=" + f.Path
	}
	return f.Name + "=" + f.Path + "," + f.Projector
}

func (m *Files) Type() string { return "file" }

func (m *Files) Set(value string) error {
	name, files, ok := strings.Cut(value, "=")
	path, projector, both := strings.Cut(files, ",")
	if !ok || name == "" || path == "" || both && projector == "" {
		return errors.New("want NAME=FILE or NAME=FILE,PROJECTOR")
	}
	*m = append(*m, library.File{Name: name, Path: path, Projector: projector})
	return nil
}

// Check tells now, and not the first client, that a file cannot be a model.
func (m Files) Check() error {
	for _, f := range m {
		if err := llamacpp.Check(f.Path); err != nil {
			return fmt.Errorf("model %q: %s: %w", f.Name, f.Path, err)
		}
		if err := llamacpp.CheckProjector(f.Path, f.Projector); err != nil {
			return fmt.Errorf("model %q: %w", f.Name, err)
		}
	}
	if len(m) > 0 && !build.HasLlamacpp() {
		return errors.New("this build has no llama.cpp in it and serves scripts only; build with `make build`")
	}
	return nil
}

// Limits are the flags that say what a model may use. serve hands them on to
// the runners.
type Limits struct{ Threads, Parallel, Context flagvalue.Number }

// Register adds the flags to those of a command.
func (l *Limits) Register(set *pflag.FlagSet) {
	set.Var(flagvalue.Within{To: &l.Threads, Least: 1, Most: modelfile.MaxThreads}, "threads", "`threads` that compute (default the physical cores)")
	set.Var(flagvalue.Within{To: &l.Parallel, Least: 1, Most: llamacpp.MaxParallel}, "parallel", "`requests` that one model computes at the same time (default 8)")
	set.Var(flagvalue.Within{To: &l.Context, Least: 1, Most: modelfile.MaxContext}, "context", "`tokens` that one request may use, prompt and answer (default what the model was trained with, as far as memory allows)")
}

// args are the flags that make the same limits.
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
	return args
}

// Changes are the flags that say in what a model differs from its file.
type Changes struct {
	Template string // a file, Jinja or a Go template; empty: the model's own
	Adapters flagvalue.List
}

// Register adds the flags to those of a command.
func (c *Changes) Register(set *pflag.FlagSet) {
	set.StringVar(&c.Template, "template", "", "`file` with the chat template to use in place of the model's own")
	set.Var(&c.Adapters, "adapter", "LoRA `file` that changes the model; may be repeated")
}

// args are the flags that make the same changes.
func (c Changes) args() []string {
	var args []string
	if c.Template != "" {
		args = append(args, "--template", c.Template)
	}
	for _, path := range c.Adapters {
		args = append(args, "--adapter", path)
	}
	return args
}

// maxTemplate bounds the file of a template, in bytes.
const maxTemplate = 1 << 20

// source reads the template; empty: the model's own.
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
