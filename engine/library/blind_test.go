package library

import (
	"testing"

	"github.com/diglot/diglot/engine/modelstore"
)

// TestBlind holds of which models it is known that they take no pictures.
func TestBlind(t *testing.T) {
	tests := []struct {
		name   string
		layers []string
		want   bool
	}{
		{"weights alone", []string{modelstore.MediaTypeModel, modelstore.MediaTypeTemplate}, true},
		{"weights and a projector", []string{modelstore.MediaTypeModel, modelstore.MediaTypeProjector}, false},
		{"served elsewhere", []string{modelstore.MediaTypeTemplate}, false},
	}
	for _, tt := range tests {
		var layers []modelstore.Layer
		for _, mediaType := range tt.layers {
			layers = append(layers, modelstore.Layer{MediaType: mediaType})
		}
		if got := blind(layers); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
