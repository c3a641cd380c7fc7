package diffusion

import "testing"

func TestPromptLimit(t *testing.T) {
	for _, tt := range []struct {
		family string
		parts  []Part
		want   Limit
	}{
		{"Stable Diffusion", []Part{{Role: Whole}}, Limit{}},
		{"Stable Diffusion XL", []Part{{Role: Whole}}, Limit{}},
		{"Stable Diffusion 3", []Part{{Role: Whole}}, Limit{75, true, false}},
		{"Stable Diffusion 3", []Part{{Role: Whole, hasT5: true}}, Limit{75, true, true}},
		{"Stable Diffusion 3", []Part{{Role: Diffusion}, {Role: ClipL}, {Role: T5, Path: "t5"}}, Limit{75, true, true}},
		{"FLUX", []Part{{Role: Diffusion}, {Role: ClipL}}, Limit{75, true, false}},
		{"FLUX", []Part{{Role: Diffusion}, {Role: ClipL}, {Role: T5, Path: "t5"}}, Limit{}},
		{"FLUX", []Part{{Role: Whole, hasT5: true}}, Limit{}},
		{"Qwen-Image", []Part{{Role: Diffusion}, {Role: LLM}}, Limit{}},
	} {
		if got := (Model{Family: Family{Name: tt.family}, Parts: tt.parts}).PromptLimit(); got != tt.want {
			t.Errorf("%s with %v: %v, want %v", tt.family, tt.parts, got, tt.want)
		}
	}
}
