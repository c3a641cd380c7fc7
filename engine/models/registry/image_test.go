package registry_test

import (
	"bytes"
	"testing"

	"github.com/diglot/diglot/engine/models/store"
)

// TestImageModel pushes an image model and pulls it again: layers of our own media
// types, which a registry need not know.
func TestImageModel(t *testing.T) {
	host := startRegistry(t)
	from := newStore(t)
	change, err := from.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer change.Close()
	blob := func(kind string, content []byte) store.Layer {
		l, err := change.Write(t.Context(), kind, bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	text, err := store.Manifest{
		Config: blob(store.MediaTypeConfig, []byte(`{"model_format":"safetensors","model_family":"FLUX"}`)),
		Layers: []store.Layer{
			blob(store.MediaTypeDiffusion, noise(1, large)),
			blob(store.MediaTypeDiffusionPart, noise(2, 5000)),
			blob(store.MediaTypeDiffusionPart, noise(3, 4000)),
			blob(store.MediaTypeDiffusionLoRA, noise(4, 300)),
			blob(store.MediaTypeParams, []byte(`{"steps":4,"lora_strength":[0.5]}`)),
		},
	}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	m, err := change.Put(t.Context(), parse(t, host+"/mine/flux:4"), text)
	if err != nil {
		t.Fatal(err)
	}
	if err := newClient(t, nil).Push(t.Context(), from, m.Name, nil); err != nil {
		t.Fatal(err)
	}
	to := newStore(t)
	if _, err := newClient(t, nil).Pull(t.Context(), to, m.Name, nil); err != nil {
		t.Fatal(err)
	}
	expectSame(t, to, m)
	expectNoRest(t, to)
}
