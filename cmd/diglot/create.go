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

// defaultFile is the definition file that create takes where none is named.
const defaultFile = "Modelfile"

// maxFile is the most bytes of a definition file.
const maxFile = 64 << 20

// standardInput is the name of a definition that has none.
const standardInput = "standard input"

// newCreate is the command that makes a model of a definition file.
func newCreate(env environment) *cobra.Command {
	var o transferOptions
	var path string
	c := &cobra.Command{
		Use:   "create NAME [FILE]",
		Short: "Make a model of a definition file, or of a GGUF file",
		Long: `Make a model of a definition file, which says in a few lines what it is made of:

  FROM qwen2.5:0.5b
  PARAMETER num_ctx 4096
  SYSTEM You answer in one sentence.

FROM names a model, the path of a GGUF file, or the address of a server that has the
model (FROM https://host/v1, PARAMETER model NAME). "diglot show NAME --modelfile"
gives the file of a model that is there.

A GGUF file in place of the definition is what a FROM line that names it would make.
FILE and -f FILE are the same.`,
		Example: "  diglot create brief -f brief.modelfile\n  diglot create mine model.gguf\n  echo 'FROM ./model.gguf' | diglot create mine -f -",
		GroupID: groupModels,
		Args:    arguments(1, 2, "the name of the new model, and a file at most"),
	}
	o.register(c)
	c.Flags().StringVarP(&path, "file", "f", defaultFile, "`FILE` with the definition, or a GGUF file; - is standard input")
	asJSON := jsonFlag(c, modelMembers)
	c.RunE = func(c *cobra.Command, args []string) error {
		n, err := parseName(args[0])
		if err != nil {
			return err
		}
		if len(args) > 1 {
			if c.Flags().Changed("file") {
				return exit.Usage("create: both %q and -f %q are given; one file makes the model", args[1], path)
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
	f, err := readDefinition(env, path)
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
		fmt.Fprintf(env.stderr, "%s is made, %s\n", n, terminal.Size(m.Size))
	}
	return m, askRemote(env, models, m)
}

// makeModel makes a model of a definition whose relative paths begin at dir.
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

// pullBase fetches the model of a FROM line. What was mistyped is pulled too,
// so it is said first.
func pullBase(ctx context.Context, env environment, models *store.Store, n store.Name, o transferOptions) error {
	_, missing := models.Model(n)
	if errors.Is(missing, store.ErrNotFound) && !o.quiet {
		fmt.Fprintf(env.stderr, "%s is no model here; pulling it\n", n)
	}
	_, err := pull(ctx, env, models, n, o)
	if err != nil && ctx.Err() == nil {
		return hintAtServer(ctx, env, n, err)
	}
	return err
}

// working shows the steps of a create. Its bars are made for the first step:
// before it there may be those of a pull.
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

func readDefinition(env environment, path string) (*modelfile.File, error) {
	if path == "-" {
		return parseDefinition(standardInput, env.stdin)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder; name a file, or a definition whose FROM line names the folder", path)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s; -f FILE names another definition, and -f - reads standard input", path)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseDefinition(path, f)
}

// parseDefinition reads a definition. A model's own file makes the one that
// names it.
func parseDefinition(name string, r io.Reader) (*modelfile.File, error) {
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
		return nil, errors.New("standard input is a GGUF file; name the file itself: diglot create NAME FILE.gguf")
	}
	return &modelfile.File{Instructions: []modelfile.Instruction{{Name: modelfile.From, Value: "./" + filepath.Base(name)}}}, nil
}

func parseText(name string, r io.Reader) (*modelfile.File, error) {
	limited := &io.LimitedReader{R: r, N: maxFile + 1}
	f, err := modelfile.Parse(limited)
	if limited.N == 0 {
		return nil, fmt.Errorf("%s has more than %d bytes, and is no definition", name, maxFile)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}
