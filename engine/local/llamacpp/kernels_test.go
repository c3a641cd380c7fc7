package llamacpp

import "testing"

func TestDescribeKernels(t *testing.T) {
	for _, tt := range []struct {
		name, instructions string
		own, others        []string
		want               string
	}{
		{"both", "AVX2", []string{"Q4_1", "Q8_0"}, []string{"F16"}, "AVX2 for Q4_1, Q8_0; ggml for F16"},
		{"all have kernels", "AVX2", []string{"Q4_1"}, nil, "AVX2 for Q4_1"},
		{"none has", "AVX2", nil, []string{"F16"}, "ggml for F16"},
		{"a processor without", "", []string{"Q4_1"}, []string{"F16"}, "ggml for F16, Q4_1"},
		{"no matrices", "AVX2", nil, nil, ""},
	} {
		if got := describeKernels(tt.instructions, tt.own, tt.others); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
