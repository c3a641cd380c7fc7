package modelfile

import (
	"context"
	"errors"
	"fmt"

	"github.com/diglot/diglot/engine/models/store"
)

// Source is where a definition file comes from, and what it may use.
type Source struct {
	Store *store.Store

	// Dir is the folder that relative paths begin at: that of the file.
	Dir string

	// Home is the folder that ~ stands for. Empty: a path that begins so is
	// refused.
	Home string

	// Version is that of this program, for REQUIRES. Empty: it is not compared.
	Version string

	// Pull fetches a model that the file names and the store does not have. Nil:
	// such a model is an error.
	Pull func(context.Context, store.Name) error

	// Template judges the chat template of the file: one that cannot be used is
	// an error. Nil: it is tried in this process, which a hostile one may end.
	Template func(ctx context.Context, source string) error

	// Progress is told what is going on. It may be nil.
	Progress func(Progress)

	// Warn gets sentences about what the file asks for and does not get. It may
	// be nil.
	Warn func(string)
}

// Progress is how far one step of [Create] is.
type Progress struct {
	Status      string // what is done, such as "copying model.gguf"
	Done, Total int64  // bytes; Total is 0 where there is nothing to count
}

// Create makes a model of a definition file and gives it a name. A model that
// had the name is replaced. All of it happens in one change of the store:
// either the model is there, or nothing is. The same file gives the same
// manifest, byte for byte. Mistakes in the file are of type *[Error].
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

// origins resolves the FROM lines, and pulls what is not there. That comes
// before the change: a pull is one of its own.
func (src Source) origins(ctx context.Context, r *recipe) ([]origin, error) {
	origins := make([]origin, len(r.from))
	for n, i := range r.from {
		o, err := src.resolve(i)
		if err != nil {
			return nil, err
		}
		if (o.url != "" || origins[0].url != "") && n > 0 {
			return nil, i.errorf("a model that is served elsewhere has no other FROM line")
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

// describe says in which line something went wrong that is no mistake of it.
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
