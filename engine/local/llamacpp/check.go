package llamacpp

import (
	"errors"
	"fmt"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/inspection"
)

// Check checks a model's GGUF file by its header and its length: it may be
// truncated, lack other parts of a split model, or be unsupported by llama.cpp.
// It reads no weights and needs no cgo.
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

// unsupportedFile is the error for a file that fails a check. Retrying does not
// help.
func unsupportedFile(path string, err error) *engine.Error {
	e := engine.Errorf(engine.CodeUnsupported, "The model's file cannot be run: %v.", err).
		At(engine.Place{Field: engine.FieldModel}).Because(errors.New(path))
	e.NoRetry = true
	return e
}

// CheckProjector checks that a projector fits its model. An empty path is fine.
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

// checkAdapters checks the headers of a model's adapters.
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
