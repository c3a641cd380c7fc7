package library

import (
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/store"
)

// TestDraft: the model that guesses is that of the Modelfile, else that of all models. A
// name in a Modelfile without such a model is an error of the load. That of all models is
// left out where it cannot guess, or is there no more.
func TestDraft(t *testing.T) {
	given := File{Name: "given", Path: fileOf(t, "given", "file").Path}
	cannot := func(l Launch) bool { return l.Name != "big" || l.Draft == "" }
	for _, tt := range []struct {
		name   string
		config Config
		params string
		want   string // file, or the start of one in the store
		refuse string // part of the error
	}{
		{"none", Config{}, "", "", ""},
		{"by a flag", Config{Draft: "small"}, "", "blobs", ""},
		{"by a flag, of a flag", Config{Draft: "given"}, "", given.Path, ""},
		{"by a flag, which cannot", Config{Draft: "small", CanDraft: cannot}, "", "", ""},
		{"by a flag, and removed", Config{Draft: "gone", CanDraft: cannot}, "", "", ""},
		{"by the Modelfile, which is not asked", Config{DraftFile: "/f.gguf", CanDraft: cannot}, `{"draft":"small"}`, "blobs", ""},
		{"a file, which cannot", Config{DraftFile: "/f.gguf", CanDraft: cannot}, "", "", ""},
		{"a file", Config{DraftFile: "/f.gguf"}, "", "/f.gguf", ""},
		{"by the Modelfile", Config{DraftFile: "/f.gguf"}, `{"draft":"small:latest"}`, "blobs", ""},
		{"an unknown one", Config{}, `{"draft":"none-such"}`, "", `"none-such" does not exist`},
		{"not a name", Config{}, `{"draft":"../../f.gguf"}`, "", "cannot be used"},
		{"a remote one", Config{}, `{"draft":"cloud"}`, "", "no GGUF file"},
		{"itself", Config{}, `{"draft":"big"}`, "", "the model itself"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.config.Files = []File{given}
			h := newHouse(t, tt.config)
			defer h.Close()
			h.create(t, "small", "small", 8, "")
			h.create(t, "big", "big", 8, tt.params)
			h.put(t, "cloud", store.Config{RemoteHost: "https://h", RemoteModel: "m"}, nil)
			_, err := h.ask(t.Context(), "big")
			if tt.refuse != "" {
				if e := engine.AsError(err); e == nil || e.Code != engine.CodeUnsupported || !strings.Contains(e.Message, tt.refuse) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := h.launches[0].Draft; got != tt.want && (tt.want != "blobs" || !strings.Contains(got, "blobs")) {
				t.Errorf("the draft model is %q, want %q", got, tt.want)
			}
			if err := h.CheckDraft(); (err != nil) != (tt.config.Draft == "gone") {
				t.Error(err)
			}
		})
	}
	h := newHouse(t, Config{Draft: "missing"})
	defer h.Close()
	h.create(t, "small", "small", 8, "")
	h.put(t, "image", store.Config{}, map[string]string{store.MediaTypeDiffusion: "image", store.MediaTypeParams: `{"draft":"small"}`})
	if err := h.Load(t.Context(), "image"); err == nil || !strings.Contains(err.Error(), "An image model generates no text") {
		t.Errorf("an image model: %v", err)
	}
	if err := h.CheckDraft(); err == nil {
		t.Error("a draft model that is missing passes the check")
	}
}
