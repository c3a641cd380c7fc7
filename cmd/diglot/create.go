package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/build"
	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/places"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/models/modelfile"
	"github.com/diglot/diglot/engine/models/store"
)

// defaultFile is the Modelfile that create reads by default.
const defaultFile = "Modelfile"

// maxFile bounds a Modelfile, in bytes.
const maxFile = 64 << 20

// standardInput names a Modelfile from standard input in errors.
const standardInput = "standard input"

func newCreate(env environment) *cobra.Command {
	var o transferOptions
	var path string
	c := &cobra.Command{
		Use:   "create NAME [FILE]",
		Short: "Create a model from a Modelfile or a GGUF file",
		Long: `Create a model from a Modelfile, such as:

  FROM qwen2.5:0.5b
  PARAMETER num_ctx 4096
  SYSTEM You answer in one sentence.

FROM names a model, a GGUF file, or the URL of a server that has the model (FROM
https://host/v1, PARAMETER model NAME). "diglot show NAME --modelfile" prints the
Modelfile of an existing model.

PARAMETER draft NAME names a smaller model with the same vocabulary, which guesses
tokens and makes a large model faster; not for texts with images.

A GGUF file in place of the Modelfile is the same as a Modelfile with a FROM line for
it. FILE and -f FILE are the same.`,
		Example: "  diglot create brief -f brief.modelfile\n  diglot create mine model.gguf\n  echo 'FROM ./model.gguf' | diglot create mine -f -",
		GroupID: groupModels,
		Args:    arguments(1, 2, "a model name and at most one file"),
	}
	o.register(c)
	c.Flags().StringVarP(&path, "file", "f", defaultFile, "read the Modelfile or GGUF file from `FILE`; - reads a Modelfile from standard input")
	asJSON := jsonFlag(c, modelFields)
	c.RunE = func(c *cobra.Command, args []string) error {
		n, err := parseName(args[0])
		if err != nil {
			return err
		}
		if len(args) > 1 {
			if c.Flags().Changed("file") {
				return exit.Usage("create: %q and -f %q are both given; give one file", args[1], path)
			}
			path = args[1]
		}
		m, err := create(c.Context(), env, n, path, o)
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(env.stdout, toJSON(m))
		}
		return nil
	}
	return c
}

func create(ctx context.Context, env environment, n store.Name, path string, o transferOptions) (*store.Model, error) {
	f, err := readModelfile(env, path)
	if err != nil {
		return nil, err
	}
	models, err := openStore(env)
	if err != nil {
		return nil, err
	}
	m, err := makeModel(ctx, env, models, n, filepath.Dir(path), f, o)
	if err != nil {
		return nil, err
	}
	if !o.quiet {
		fmt.Fprintf(env.stderr, "created %s, %s\n", n, terminal.Size(m.Size))
	}
	return m, askRemote(env, models, m)
}

// makeModel creates a model from a Modelfile whose relative paths start at dir.
func makeModel(ctx context.Context, env environment, models *store.Store, n store.Name, dir string, f *modelfile.File, o transferOptions) (*store.Model, error) {
	work := &working{env: env, quiet: o.quiet}
	defer work.close()
	return modelfile.Create(ctx, modelfile.Source{
		Store:    models,
		Dir:      dir,
		Home:     places.Home(env.getenv),
		Version:  build.Version(),
		Pull:     func(ctx context.Context, n store.Name) error { return pullBase(ctx, env, models, n, o) },
		Template: func(ctx context.Context, source string) error { _, err := tryTemplate(ctx, env, source); return err },
		Progress: work.show,
		Warn:     func(text string) { fmt.Fprintln(env.stderr, "warning:", text) },
	}, n, f)
}

// pullBase pulls the model of a FROM line. It says so first, because the name
// may be a mistyped local one.
func pullBase(ctx context.Context, env environment, models *store.Store, n store.Name, o transferOptions) error {
	_, missing := models.Model(n)
	if errors.Is(missing, store.ErrNotFound) && !o.quiet {
		fmt.Fprintf(env.stderr, "%s is not on this machine; pulling it\n", n)
	}
	_, err := pull(ctx, env, models, n, o)
	if err != nil && ctx.Err() == nil {
		return hintAtServer(ctx, env, n, err)
	}
	return err
}

// working shows the steps of a create. Its bars are made with the first step,
// because a pull may show its own before that.
type working struct {
	env   environment
	quiet bool
	bars  terminal.Progress
}

func (w *working) show(p modelfile.Progress) {
	if w.bars == nil {
		w.bars = newProgress(w.env, w.quiet)
	}
	if p.Total == 0 {
		w.bars.Say(p.Status)
		return
	}
	w.bars.Update(terminal.Step{Key: p.Status, Label: p.Status, Done: p.Done, Total: p.Total})
}

func (w *working) close() {
	if w.bars != nil {
		w.bars.Close()
	}
}

func readModelfile(env environment, path string) (*modelfile.File, error) {
	if path == "-" {
		return parseModelfile(standardInput, env.stdin)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; give a file, or a Modelfile whose FROM line names the directory", path)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no such file: %s; give another Modelfile with -f FILE, or -f - for standard input", path)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseModelfile(path, f)
}

// parseModelfile parses a Modelfile. For a GGUF file it returns a Modelfile
// with a FROM line for it.
func parseModelfile(name string, r io.Reader) (*modelfile.File, error) {
	magic := make([]byte, len(gguf.Magic))
	n, err := io.ReadFull(r, magic)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	r = io.MultiReader(bytes.NewReader(magic[:n]), r)
	if string(magic) != gguf.Magic {
		return parseText(name, r)
	}
	if name == standardInput {
		return nil, errors.New("standard input is a GGUF file; give the file itself: diglot create NAME FILE.gguf")
	}
	return &modelfile.File{Instructions: []modelfile.Instruction{{Name: modelfile.From, Value: "./" + filepath.Base(name)}}}, nil
}

func parseText(name string, r io.Reader) (*modelfile.File, error) {
	limited := &io.LimitedReader{R: r, N: maxFile + 1}
	f, err := modelfile.Parse(limited)
	if limited.N == 0 {
		return nil, fmt.Errorf("%s is not a Modelfile: it is larger than %d bytes", name, maxFile)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}
