package gguf

import "testing"

func TestAbout(t *testing.T) {
	tensors := []Tensor{
		{Name: "a", Type: F16, Elements: 10, Bytes: 20},
		{Name: "b", Type: 12, Elements: 256, Bytes: 144},
		{Name: "c", Type: F32, Elements: 4, Bytes: 16},
	}
	for _, tt := range []struct {
		name         string
		meta         map[string]any
		tensors      []Tensor
		quantization string
		parameters   int64
		projector    bool
		adapter      bool
	}{
		{"nothing", nil, nil, "", 0, false, false},
		{"a number for the type", map[string]any{"general.file_type": uint64(15)}, tensors, "Q4_K_M", 270, false, false},
		{"an unknown one", map[string]any{"general.file_type": uint64(1024)}, tensors, "Q4_K", 270, false, false},
		{"none", nil, tensors, "Q4_K", 270, false, false},
		{"a type that is not known", nil, []Tensor{{Type: 77, Elements: 5}}, "", 5, false, false},
		{"more parameters than fit", nil, []Tensor{{Elements: 1 << 62}, {Elements: 1 << 62}}, "", 0, false, false},
		{"a projector", map[string]any{"general.architecture": "clip"}, nil, "", 0, true, false},
		{"one that says so", map[string]any{"general.architecture": "x", "general.type": "mmproj"}, nil, "", 0, true, false},
		{"an adapter", map[string]any{"general.architecture": "llama", "general.type": "adapter"}, nil, "", 0, false, true},
		{"an old adapter", map[string]any{"general.architecture": "llama", "adapter.type": "lora"}, nil, "", 0, false, true},
		{"a model that says so", map[string]any{"general.architecture": "llama", "general.type": "model"}, nil, "", 0, false, false},
	} {
		f := &File{Tensors: tt.tensors, meta: tt.meta}
		if got := f.Quantization(); got != tt.quantization {
			t.Errorf("%s: quantization %q, want %q", tt.name, got, tt.quantization)
		}
		if got := f.Parameters(); got != tt.parameters {
			t.Errorf("%s: %d parameters, want %d", tt.name, got, tt.parameters)
		}
		if f.IsProjector() != tt.projector || f.IsAdapter() != tt.adapter {
			t.Errorf("%s: projector %t, adapter %t", tt.name, f.IsProjector(), f.IsAdapter())
		}
	}
}
