package matrix

// Formats are the types of weights that have kernels, as GGUF names them.
func Formats() []string {
	return []string{"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4", "F16", "BF16", "F32"}
}
