package inspectiontest

import (
	"path/filepath"
	"testing"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/inspection"
)

// TestRecipes holds that the models are right by the tables that they are made
// by.
func TestRecipes(t *testing.T) {
	all, err := Recipes(1)
	if err != nil {
		t.Fatal(err)
	}
	projectors, err := Projectors(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(all, projectors...) {
		parts, err := Model(r, 1)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		path := filepath.Join(t.TempDir(), "m.gguf")
		if err := parts.Write(path); err != nil {
			t.Fatal(err)
		}
		file, err := gguf.Open(path)
		switch {
		case err != nil:
		case r.Projector != "":
			err = inspection.Projector(file)
		default:
			err = inspection.Model(path, file)
		}
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
}
