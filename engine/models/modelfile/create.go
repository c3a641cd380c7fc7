package modelfile

import (
	"context"
	"errors"
	"fmt"

	"github.com/diglot/diglot/engine/models/store"
)

// Source is the context of a Modelfile: what it may use, and callbacks.
type Source struct {
	Store *store.Store

	// Dir is the directory for relative paths: that of the Modelfile.
	Dir string

	// Home replaces ~ in paths. Empty: ~ is refused.
	Home string

	// Version of this program, for REQUIRES. Empty: not compared.
	Version string

	// Pull pulls a model of a FROM line that is not stored. Nil: that is an error.
	Pull func(context.Context, store.Name) error

	// Template fails for a chat template that cannot be used. Nil: the template
	// is tried in this process, which a hostile one may crash.
	Template func(ctx context.Context, source string) error

	Progress func(Progress) // may be nil

	// Warn gets sentences about instructions without effect. It may be nil.
	Warn func(string)
}

// Progress is the progress of one step of [Create].
type Progress struct {
	Status      string // such as "copying model.gguf"
	Done, Total int64  // bytes; Total is 0 for a step without a size
}

// Create creates a model from a Modelfile, or replaces one of that name, in one
// change of the store. The same Modelfile gives the same manifest, byte for byte.
// Mistakes in the Modelfile are of type *[Error].
func Create(ctx context.Context, src Source, name store.Name, f *File) (*store.Model, error) {
	r, err := check(f, func(source string) error { return src.tryTemplate(ctx, source) })
	if err != nil {
		return nil, err
	}
	origins, err := src.origins(ctx, r)
	if err != nil {
		return nil, err
	}
	change, err := src.Store.Begin(ctx)
	if err != nil {
		return nil, err
	}
	var m *store.Model
	if err = change.CheckName(name); err == nil {
		m, err = (&builder{src: src, change: change, recipe: r}).build(ctx, name, origins)
	}
	return m, errors.Join(err, change.Close())
}

// origins resolves the FROM lines, and pulls missing models. It runs before the
// change of Create, because a pull has its own.
func (src Source) origins(ctx context.Context, r *recipe) ([]origin, error) {
	origins := make([]origin, len(r.from))
	for n, i := range r.from {
		o, err := src.resolve(i)
		if err != nil {
			return nil, err
		}
		if (o.url != "" || origins[0].url != "") && n > 0 {
			return nil, i.errorf("a remote model has only one FROM line")
		}
		origins[n] = o
	}
	for n, o := range origins {
		if o.name == (store.Name{}) {
			continue
		}
		if err := src.fetch(ctx, o.name); err != nil {
			return nil, describe(r.from[n], err)
		}
	}
	return origins, nil
}

// describe adds the line to an error that is not a mistake in the Modelfile.
func describe(i Instruction, err error) error {
	if i.Line == 0 {
		return fmt.Errorf("%s %s: %w", i.Name, i.Value, err)
	}
	return fmt.Errorf("line %d: %s %s: %w", i.Line, i.Name, i.Value, err)
}

func (src Source) fetch(ctx context.Context, n store.Name) error {
	m, err := src.Store.Model(n)
	if err == nil {
		err = src.Store.Whole(m)
	}
	if err == nil || src.Pull == nil {
		return err
	}
	missing := errors.Is(err, store.ErrNotFound)
	if err = src.Pull(ctx, n); err == nil || !missing || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%s is not on this machine and could not be pulled: %w", n, err)
}

func (src Source) warn(text string) {
	if src.Warn != nil {
		src.Warn(text)
	}
}

func (src Source) progress(p Progress) {
	if src.Progress != nil {
		src.Progress(p)
	}
}
