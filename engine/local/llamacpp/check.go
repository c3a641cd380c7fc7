package llamacpp

import (
	"errors"
	"fmt"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/inspection"
)

// Check says what is wrong with a model's GGUF file, as far as its head and its
// length tell: that it is something else, or cut short, or lacks its other
// parts, or that llama.cpp could not run it. It reads no weights and works in
// every build.
func Check(path string) error {
	_, err := inspect(path)
	return err
}

func inspect(path string) (*gguf.File, error) {
	file, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	return file, inspection.Model(path, file)
}

// refused is the error of a file that is checked before it is loaded, with a
// text for the client. The file will be the same one when it is asked for again.
func refused(path string, err error) *engine.Error {
	e := engine.Errorf(engine.CodeUnsupported, "The model's file cannot be run: %v.", err).
		At(engine.Place{Field: engine.FieldModel}).Because(errors.New(path))
	e.NoRetry = true
	return e
}

// CheckProjector is Check for the file of a projector, beside the file of its
// model, and for none: an empty path.
func CheckProjector(model, projector string) error {
	if projector == "" {
		return nil
	}
	file, err := gguf.Open(model)
	if err != nil {
		return err
	}
	return checkProjector(file, projector)
}

func checkProjector(model *gguf.File, path string) error {
	if path == "" {
		return nil
	}
	file, err := gguf.Open(path)
	if err == nil {
		err = inspection.Projector(file)
	}
	if err == nil {
		err = inspection.Pair(model, file)
	}
	if err != nil {
		return fmt.Errorf("projector %s: %w", path, err)
	}
	return nil
}

// checkAdapters looks at the heads of all adapters of a model.
func checkAdapters(model *gguf.File, paths []string) error {
	var files []*gguf.File
	for _, path := range paths {
		file, err := gguf.Open(path)
		if err == nil {
			err = inspection.Adapter(model, file)
		}
		if err != nil {
			return fmt.Errorf("adapter %s: %w", path, err)
		}
		files = append(files, file)
	}
	return inspection.Adapters(model, files)
}
