package library

import (
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/modelfile"
)

// CheckDraft fails if [Config.Draft] is no model that can guess tokens for others.
func (e *Engine) CheckDraft() *engine.Error {
	_, err := e.draftNamed(e.config.Draft)
	return err
}

// withDraft adds the file of the model that guesses tokens. What the Modelfile says comes
// first, and must be right. That of all models is left out where it cannot guess.
func (e *Engine) withDraft(l Launch, d *modelfile.Definition) (Launch, *engine.Error) {
	var err *engine.Error
	if d.Parameters.Draft != "" {
		l.Draft, err = e.draftFor(l, d.Parameters.Draft)
		return l, err
	}
	l.Draft = e.config.DraftFile
	if l.Draft == "" {
		if l.Draft, err = e.draftNamed(e.config.Draft); err != nil {
			e.config.Log.Warn("the model loads without the draft model", "model", l.Name, "err", err)
		}
	}
	if l.Draft != "" && e.config.CanDraft != nil && !e.config.CanDraft(l) {
		l.Draft = ""
	}
	return l, nil
}

// draftFor finds the file of a model by its name, to guess tokens for l.
func (e *Engine) draftFor(l Launch, name string) (string, *engine.Error) {
	file, err := e.draftNamed(name)
	switch {
	case err != nil:
		return "", err
	case len(l.Parts) > 0:
		return "", noDraft(name, engine.Errorf(engine.CodeUnsupported, "An image model generates no text."))
	case file == l.Path:
		return "", noDraft(name, engine.Errorf(engine.CodeUnsupported, "It is the model itself."))
	}
	return file, nil
}

// draftNamed finds the file of a model by its name.
func (e *Engine) draftNamed(name string) (string, *engine.Error) {
	if name == "" {
		return "", nil
	}
	m, err := e.find(name)
	if err != nil {
		return "", noDraft(name, err)
	}
	d, err := e.define(m)
	switch {
	case err != nil:
		return "", noDraft(name, err)
	case d.Model == "":
		return "", noDraft(name, engine.Errorf(engine.CodeUnsupported, "It has no GGUF file of a language model."))
	}
	return d.Model, nil
}

// noDraft is the error for a name without a model that guesses tokens.
func noDraft(name string, cause error) *engine.Error {
	known := engine.AsError(cause)
	return engine.Errorf(engine.CodeUnsupported, "The draft model %q cannot be used. %s", name, known.Message).
		At(engine.Place{Field: engine.FieldModel}).Because(known.Err)
}
