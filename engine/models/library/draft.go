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

// draftFor returns the file of the model that guesses tokens for a model; empty: none
// does. What the Modelfile says comes first.
func (e *Engine) draftFor(d *modelfile.Definition) (string, *engine.Error) {
	switch name := d.Parameters.Draft; {
	case name != "":
		return e.draftNamed(name)
	case e.config.DraftFile != "":
		return e.config.DraftFile, nil
	}
	return e.draftNamed(e.config.Draft)
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
		refused := noDraft(name, nil)
		refused.Message += " It has no GGUF file of a language model."
		return "", refused
	}
	return d.Model, nil
}

// noDraft is the error for a name without a model that guesses tokens.
func noDraft(name string, cause error) *engine.Error {
	err := engine.Errorf(engine.CodeUnsupported, "The draft model %q cannot be used.", name).At(engine.Place{Field: engine.FieldModel})
	if cause == nil {
		return err
	}
	known := engine.AsError(cause)
	err.Message += " " + known.Message
	return err.Because(known.Err)
}
