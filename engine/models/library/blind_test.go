package library

import (
	"testing"

	"github.com/diglot/diglot/engine/models/store"
)

// TestBlind holds of which models it is known that they take no pictures.
func TestBlind(t *testing.T) {
	tests := []struct {
		name   string
		layers []string
		want   bool
	}{
		{"weights alone", []string{store.MediaTypeModel, store.MediaTypeTemplate}, true},
		{"weights and a projector", []string{store.MediaTypeModel, store.MediaTypeProjector}, false},
		{"served elsewhere", []string{store.MediaTypeTemplate}, false},
	}
	for _, tt := range tests {
		var layers []store.Layer
		for _, mediaType := range tt.layers {
			layers = append(layers, store.Layer{MediaType: mediaType})
		}
		if got := (&model{layers: layers}).blind(); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
