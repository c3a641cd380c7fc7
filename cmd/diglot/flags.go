package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
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

// size is a flag for a number of at least 1; 0 says that it was not given.
type size int

func (s *size) String() string { return strconv.Itoa(int(*s)) }

func (s *size) Type() string { return "number" }

func (s *size) Set(value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return errors.New("want a whole number of at least 1")
	}
	*s = size(n)
	return nil
}

// limits are the flags that say what a model may use. serve hands them on to
// the runners.
type limits struct{ threads, parallel, context size }

func (l *limits) register(flags *pflag.FlagSet) {
	flags.Var(&l.threads, "threads", "`threads` that compute (default the physical cores)")
	flags.Var(&l.parallel, "parallel", "`requests` that one model computes at the same time (default 8)")
	flags.Var(&l.context, "context", "`tokens` that one request may use, prompt and answer (default what the model was trained with, as far as memory allows)")
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
