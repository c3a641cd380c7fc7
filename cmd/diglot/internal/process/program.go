package process

import (
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/diglot/diglot/cmd/diglot/internal/build"
	"github.com/diglot/diglot/engine/local/variant"
)

// Program is the program that runs models.
type Program struct {
	Path    string
	Variant string // of a release, as package variant names it; empty: it is none
	Warning string // why it is not the best variant; empty: it is
}

// Log tells which program runs models, if there was a choice.
func (p Program) Log(log *slog.Logger) {
	switch {
	case p.Warning != "":
		log.Warn("models run slower than they could", "variant", p.Variant, "reason", p.Warning)
	case p.Variant != "":
		log.Info("variant for this processor", "variant", p.Variant)
	}
}

// withVariant adds the variant that this program is to the lines of a log.
func withVariant(log *slog.Logger) *slog.Logger {
	if info, err := build.Info(); err == nil {
		if is := build.Variant(info); is != "" {
			return log.With("variant", is)
		}
	}
	return log
}

// ForThisProcessor chooses the program that runs models: own, which is this one, or
// of a release the variant that is named wanted; if that is empty, the best one for
// the processor. A variant that cannot run leaves own.
func ForThisProcessor(own, wanted string) (Program, error) {
	info, err := build.Info()
	if err != nil {
		return Program{Path: own}, nil // without build info, it is no release
	}
	return forProcessor(variant.ThisProcessor(), variant.Of(runtime.GOOS, runtime.GOARCH), own, info, wanted)
}

func forProcessor(p variant.Processor, all []variant.Variant, own string, info *debug.BuildInfo, wanted string) (Program, error) {
	is := build.Variant(info)
	if len(all) == 0 || is != all[len(all)-1].Name { // no release, or a variant that someone chose to run
		return Program{Path: own, Variant: is}, nil
	}
	chosen, err := chooseVariant(all, wanted, p)
	if err != nil {
		return Program{}, err
	}
	if chosen.Name == is {
		return Program{Path: own, Variant: is}, nil
	}
	path := variant.Path(own, chosen.Name)
	if err := build.CheckVariant(path, chosen.Name, own, info); err != nil {
		return Program{Path: own, Variant: is, Warning: fmt.Sprintf("the variant %s in %s cannot be used: %v", chosen.Name, path, err)}, nil
	}
	return Program{Path: path, Variant: chosen.Name}, nil
}

// chooseVariant returns the best variant, or the one that is wanted. That one may
// not be one that the processor cannot run: it would end at any moment.
func chooseVariant(all []variant.Variant, wanted string, p variant.Processor) (variant.Variant, error) {
	if wanted == "" {
		return variant.Best(all, p), nil
	}
	i := slices.IndexFunc(all, func(v variant.Variant) bool { return v.Name == wanted })
	if i < 0 {
		var names []string
		for _, v := range all {
			names = append(names, v.Name)
		}
		return variant.Variant{}, fmt.Errorf("DIGLOT_VARIANT is %q, not one of %s", wanted, strings.Join(names, ", "))
	}
	if missing := all[i].Missing(p); len(missing) > 0 {
		return variant.Variant{}, fmt.Errorf("DIGLOT_VARIANT is %q, but this processor lacks %s", wanted, strings.Join(missing, ", "))
	}
	return all[i], nil
}
