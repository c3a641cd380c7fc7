package diffusiontest

// Sizes that the engine does not read from the file: those of Qwen3's attention and
// vocabulary, and of the latents of FLUX.2.
const (
	vocabulary = 151936
	headWidth  = 128
	queries    = 32 * headWidth
	keys       = 8 * headWidth
	latents    = 128
	timeWidth  = 256
)

// Sizes that are ours.
const (
	textWidth = 32
	textInner = 64
	width     = 128
	inner     = 3 * width
	rank      = 4 // of the LoRA
)

// klein has a text encoder and a diffusion model.
func klein(w *weights) {
	qwen(w, "text_encoders.llm.model.")
	transformer(w, "model.diffusion_model.")
}

// qwen is a Qwen3 with one layer.
func qwen(w *weights, prefix string) {
	w.normal(prefix+"embed_tokens.weight", 1, vocabulary, textWidth)
	layer := prefix + "layers.0."
	w.linear(layer+"self_attn.q_proj", textWidth, queries)
	w.linear(layer+"self_attn.k_proj", textWidth, keys)
	w.linear(layer+"self_attn.v_proj", textWidth, keys)
	w.linear(layer+"self_attn.o_proj", queries, textWidth)
	w.ones(layer+"self_attn.q_norm.weight", headWidth)
	w.ones(layer+"self_attn.k_norm.weight", headWidth)
	w.linear(layer+"mlp.gate_proj", textWidth, textInner)
	w.linear(layer+"mlp.up_proj", textWidth, textInner)
	w.linear(layer+"mlp.down_proj", textInner, textWidth)
	w.ones(layer+"input_layernorm.weight", textWidth)
	w.ones(layer+"post_attention_layernorm.weight", textWidth)
	w.ones(prefix+"norm.weight", textWidth)
}

// lora changes two matrices of the diffusion model.
func lora(w *weights) {
	for _, m := range []struct {
		name    string
		in, out int
	}{
		{"double_blocks.0.img_attn.qkv", width, 3 * width},
		{"single_blocks.0.linear2", width + inner, width},
	} {
		w.linear("diffusion_model."+m.name+".lora_A", m.in, rank)
		w.linear("diffusion_model."+m.name+".lora_B", rank, m.out)
	}
}

// transformer is a diffusion transformer with one block of each kind.
func transformer(w *weights, prefix string) {
	w.linear(prefix+"img_in", latents, width)
	w.linear(prefix+"txt_in", textWidth, width)
	w.linear(prefix+"time_in.in_layer", timeWidth, width)
	w.linear(prefix+"time_in.out_layer", width, width)
	for _, stream := range []string{"img", "txt"} {
		block := prefix + "double_blocks.0." + stream
		w.linear(block+"_attn.qkv", width, 3*width)
		w.ones(block+"_attn.norm.query_norm.scale", headWidth)
		w.ones(block+"_attn.norm.key_norm.scale", headWidth)
		w.linear(block+"_attn.proj", width, width)
		w.linear(block+"_mlp.0", width, 2*inner)
		w.linear(block+"_mlp.2", inner, width)
		w.linear(prefix+"double_stream_modulation_"+stream+".lin", width, 6*width)
	}
	block := prefix + "single_blocks.0."
	w.linear(block+"linear1", width, 3*width+2*inner)
	w.linear(block+"linear2", width+inner, width)
	w.ones(block+"norm.query_norm.scale", headWidth)
	w.ones(block+"norm.key_norm.scale", headWidth)
	w.linear(prefix+"single_stream_modulation.lin", width, 3*width)
	w.linear(prefix+"final_layer.linear", width, latents)
	w.linear(prefix+"final_layer.adaLN_modulation.1", width, 2*width)
}
