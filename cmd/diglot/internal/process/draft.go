package process

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/llamacpp"
	"github.com/diglot/diglot/engine/models/library"
)

// Draft is the flag that says what guesses further tokens. Guesses are checked
// together, and change no text.
type Draft struct {
	None  bool   // nothing does
	Model string // a second model does, too: its name, or its GGUF file; empty: none
}

func (d *Draft) String() string {
	switch {
	case d.None:
		return "none"
	case d.Model != "":
		return d.Model
	}
	return "auto"
}

func (d *Draft) Type() string { return "model" }

func (d *Draft) Set(value string) error {
	switch value {
	case "":
		return errors.New("want auto, none, a model, or a GGUF file")
	case "auto", "none":
		*d = Draft{None: value == "none"}
	default:
		*d = Draft{Model: value}
	}
	return nil
}

// File is the second model as a file; empty: it is a name, or none.
func (d Draft) File() string {
	if strings.EqualFold(filepath.Ext(d.Model), ".gguf") {
		return d.Model
	}
	return ""
}

// Name is the second model as a name; empty: it is a file, or none.
func (d Draft) Name() string {
	if d.File() != "" {
		return ""
	}
	return d.Model
}

// Check finds a file that is no model, before the first client does.
func (d Draft) Check() error {
	if d.File() == "" {
		return nil
	}
	if _, err := gguf.Open(d.File()); err != nil {
		return fmt.Errorf("%s: %w", d.File(), err)
	}
	return nil
}

// args formats the flag, unless it is the default.
func (d Draft) args() []string {
	if d == (Draft{}) {
		return nil
	}
	return []string{"--draft", d.String()}
}

// draftOf returns the file of the model that guesses tokens for l; empty: none does. No
// model guesses for an image model, or for itself.
func (d Draft) draftOf(l library.Launch) string {
	if d.None || l.Draft == "" || len(l.Parts) > 0 || sameFile(l.Draft, l.Path) {
		return ""
	}
	return l.Draft
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// embeds reports whether a file is a model that generates no text. One that cannot be read
// is not: its load will tell.
func embeds(path string) bool {
	file, err := gguf.Open(path)
	if err != nil {
		return false
	}
	only, _ := file.Embeds()
	return only
}

// CanDraft returns a function that reports whether the second model, which is meant for
// all, can guess for a launch, by the headers of both. Where it cannot, the log says why;
// not for embedding models and others for which it is not meant.
func (d Draft) CanDraft(log *slog.Logger) func(library.Launch) bool {
	return func(l library.Launch) bool {
		second := d.draftOf(l)
		if second == "" || embeds(l.Path) {
			return false
		}
		if err := llamacpp.CheckDraft(l.Path, second); err != nil {
			log.Warn("the model loads without the draft model", "model", l.Name, "err", err)
			return false
		}
		return true
	}
}
