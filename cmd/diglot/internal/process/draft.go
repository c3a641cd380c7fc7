package process

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
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

// draftOf returns the file of the model that guesses tokens for l; empty: none does. A
// flag that is meant for all models leaves out those that generate no text, and the
// model itself.
func (d Draft) draftOf(l library.Launch) string {
	if d.None || l.Draft == l.Path || len(l.Parts) > 0 {
		return ""
	}
	file, err := gguf.Open(l.Path)
	if err != nil {
		return l.Draft // the load will tell
	}
	if embeds, _ := file.Embeds(); embeds {
		return ""
	}
	return l.Draft
}
