package llamacpp

import (
	"errors"
	"fmt"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/tokenizer"
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

// CheckDraft checks that a second model can guess the tokens of a model. An empty path
// is fine.
func CheckDraft(model, path string) error {
	if path == "" {
		return nil
	}
	file, err := gguf.Open(model)
	if err != nil {
		return err
	}
	return checkDraft(model, file, path)
}

func checkDraft(model string, file *gguf.File, path string) error {
	if path == "" {
		return nil
	}
	if err := guesses(model, file, path); err != nil {
		return fmt.Errorf("draft model %s: %w", path, err)
	}
	return nil
}

// guesses checks that a file is a model that generates tokens of another.
func guesses(model string, file *gguf.File, path string) error {
	second, err := inspect(path)
	if err != nil {
		return err
	}
	if embeds, _ := file.Embeds(); embeds || inspection.Recurrent(file) {
		return errors.New("the model cannot check what it guesses")
	}
	if embeds, _ := second.Embeds(); embeds {
		return errors.New("it generates no text")
	}
	if inspection.Recurrent(second) {
		return errors.New("its state cannot be cut back to before a wrong guess")
	}
	return sameVocabulary(model, file, path, second)
}

// mostPadding is how many tokens one of two vocabularies may have more than the other.
const mostPadding = 1 << 10

// sameVocabulary checks that two models have the same tokens, as far as both go: a
// vocabulary may be padded to a round number.
func sameVocabulary(path string, file *gguf.File, second string, secondFile *gguf.File) error {
	a, err := tokenizer.Read(path, file)
	if err != nil {
		return err
	}
	b, err := tokenizer.Read(second, secondFile)
	if err != nil {
		return err
	}
	n, m := len(a.Texts), len(b.Texts)
	if a.Model != b.Model || max(n, m)-min(n, m) > mostPadding {
		return fmt.Errorf("its vocabulary (%s, %d tokens) is not that of the model (%s, %d tokens)", b.Model, m, a.Model, n)
	}
	for i := range min(n, m) {
		if a.Texts[i] != b.Texts[i] || (a.Kinds[i] == tokenizer.Control) != (b.Kinds[i] == tokenizer.Control) {
			return fmt.Errorf("its vocabulary is not that of the model: token %d is %q, not %q", i, b.Texts[i], a.Texts[i])
		}
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
