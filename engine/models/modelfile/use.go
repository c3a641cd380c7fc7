package modelfile

import (
	"fmt"
	"slices"

	"github.com/diglot/diglot/engine/local/inspection"
)

// What a model makes no use of, by its kind.

// embeds reports whether the model makes embeddings and no text.
func (b *builder) embeds() bool {
	if len(b.models) != 1 {
		return false
	}
	only, _ := b.models[0].head.Embeds()
	return only
}

// remoteOnly fails if the Modelfile of a model that is here sets what only remote ones have.
func (b *builder) remoteOnly() error {
	if i, set := b.recipe.lines[parameterModel]; set {
		return i.errorf("PARAMETER %s names a remote model and requires FROM https://HOST/v1", parameterModel)
	}
	if i, set := b.recipe.lines[parameterAffinity]; set {
		return i.errorf("PARAMETER %s is for a remote model and requires FROM https://HOST/v1", parameterAffinity)
	}
	return nil
}

// drafted fails if the model cannot use what the model of PARAMETER draft guesses.
func (b *builder) drafted() error {
	i, set := b.recipe.lines[parameterDraft]
	if !set {
		return nil
	}
	why := ""
	switch {
	case b.draws():
		why = "an image model generates no text"
	case b.embeds():
		why = "the model only makes embeddings"
	case inspection.Recurrent(b.models[0].head):
		why = "a recurrent model cannot take back a wrong guess"
	default:
		return nil
	}
	return i.errorf("PARAMETER %s cannot be used: %s", parameterDraft, why)
}

// warnUnused warns of what the Modelfile sets and the model makes no use of.
func (b *builder) warnUnused() {
	for _, p := range table {
		if b.recipe.params[p.name] == nil || p.set == nil {
			continue
		}
		if why := b.unused(p); why != "" {
			b.src.warn(fmt.Sprintf("PARAMETER %s has no effect: %s.", p.name, why))
		}
	}
	if !b.embeds() {
		return
	}
	for _, i := range []struct {
		name string
		set  bool
	}{{Template, b.recipe.template != ""}, {System, b.recipe.system != ""}, {Message, len(b.recipe.messages) > 0}} {
		if i.set {
			b.src.warn(fmt.Sprintf("%s has no effect: the model only makes embeddings.", i.name))
		}
	}
}

// unused is why the model makes no use of a parameter; empty: it does.
func (b *builder) unused(p parameter) string {
	is := func(names ...string) bool { return slices.Contains(names, p.name) }
	switch {
	case b.isRemote() && is("num_ctx", "num_thread", parameterDraft):
		return "the remote server decides it"
	case b.draws() && !p.draws && !is("num_thread", "seed"):
		return "an image model generates no text"
	case b.embeds() && !is("num_ctx", "num_thread"):
		return "the model only makes embeddings"
	}
	return ""
}
