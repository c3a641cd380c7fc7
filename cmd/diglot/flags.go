package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/diglot/diglot/engine/local/llamacpp"
	"github.com/diglot/diglot/engine/models/modelfile"
)

// list is a flag that may be repeated.
type list []string

func (l *list) String() string { return strings.Join(*l, " ") }

func (l *list) Type() string { return "text" }

func (l *list) Set(value string) error {
	if value == "" {
		return errors.New("empty value")
	}
	*l = append(*l, value)
	return nil
}

// filePath is a flag for a file that is not as good as absent: an empty value is
// a variable that was to hold a path.
type filePath struct{ to *string }

func (f filePath) String() string {
	if f.to == nil {
		return ""
	}
	return *f.to
}

func (f filePath) Type() string { return "file" }

func (f filePath) Set(value string) error {
	if value == "" {
		return errors.New("empty value")
	}
	*f.to = value
	return nil
}

// modelFile is what one --model says.
type modelFile struct {
	name, path string
	projector  string // empty: the model sees no images
}

func (m modelFile) String() string {
	if m.projector == "" {
		return m.name + "=" + m.path
	}
	return m.name + "=" + m.path + "," + m.projector
}

// modelFiles is a flag NAME=FILE[,PROJECTOR] that may be repeated.
type modelFiles []modelFile

func (m *modelFiles) String() string {
	var all []string
	for _, f := range *m {
		all = append(all, f.String())
	}
	return strings.Join(all, " ")
}

func (m *modelFiles) Type() string { return "file" }

func (m *modelFiles) Set(value string) error {
	name, files, ok := strings.Cut(value, "=")
	path, projector, both := strings.Cut(files, ",")
	if !ok || name == "" || path == "" || both && projector == "" {
		return errors.New("want NAME=FILE or NAME=FILE,PROJECTOR")
	}
	*m = append(*m, modelFile{name, path, projector})
	return nil
}

// size is a number that a flag says; 0 says that it was not given.
type size int

func (s size) String() string { return strconv.Itoa(int(s)) }

// within is a flag for a whole number in a range. All flags for numbers are
// of this type, so that a number that cannot be meant is refused where it is
// written, with the ones that can.
type within struct {
	to          *size
	least, most int
}

func (w within) String() string {
	if w.to == nil || *w.to == 0 {
		return "" // pflag shows no default then
	}
	return w.to.String()
}

func (w within) Type() string { return "number" }

func (w within) Set(value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < w.least || n > w.most {
		return fmt.Errorf("want a whole number from %d to %d", w.least, w.most)
	}
	*w.to = size(n)
	return nil
}

// limits are the flags that say what a model may use. serve hands them on to
// the runners.
type limits struct{ threads, parallel, context size }

func (l *limits) register(flags *pflag.FlagSet) {
	flags.Var(within{&l.threads, 1, modelfile.MaxThreads}, "threads", "`threads` that compute (default the physical cores)")
	flags.Var(within{&l.parallel, 1, llamacpp.MaxParallel}, "parallel", "`requests` that one model computes at the same time (default 8)")
	flags.Var(within{&l.context, 1, modelfile.MaxContext}, "context", "`tokens` that one request may use, prompt and answer (default what the model was trained with, as far as memory allows)")
}

// args are the flags that make the same limits.
func (l limits) args() []string {
	var args []string
	for _, f := range []struct {
		name  string
		value size
	}{{"--threads", l.threads}, {"--parallel", l.parallel}, {"--context", l.context}} {
		if f.value > 0 {
			args = append(args, f.name, f.value.String())
		}
	}
	return args
}
