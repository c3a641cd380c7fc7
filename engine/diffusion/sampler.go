package diffusion

// Samplers are the names of stable-diffusion.cpp's samplers, in its order. A test of
// package sdcpp compares them with the library's.
func Samplers() []string {
	return []string{
		"euler", "euler_a", "heun", "dpm2", "dpm++2s_a", "dpm++2m", "dpm++2mv2", "ipndm", "ipndm_v", "lcm", "ddim_trailing", "tcd",
		"res_multistep", "res_2s", "er_sde",
	}
}

// Schedulers are the names of its schedulers, likewise.
func Schedulers() []string {
	return []string{
		"discrete", "karras", "exponential", "ays", "gits", "sgm_uniform", "simple", "smoothstep", "kl_optimal", "lcm", "bong_tangent",
	}
}
