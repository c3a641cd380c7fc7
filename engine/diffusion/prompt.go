package diffusion

// Limit is how long a prompt can be.
type Limit struct {
	Tokens   int  // 0: any number
	Clip, T5 bool // whose tokens count
}

// clipTokens is what CLIP reads at once, without the tokens that begin and end it.
const clipTokens = 75

// PromptLimit is the longest prompt that stable-diffusion.cpp uses whole.
//
//   - For Stable Diffusion and its XL, CLIP encodes a longer prompt in chunks of 75
//     tokens, whose embeddings are joined.
//   - For FLUX, T5 does so in chunks of 256. CLIP gives only a summary, of the first
//     75 tokens, as the authors of FLUX made it; without T5 there is nothing else.
//   - For Stable Diffusion 3, all encoders have chunks of 77, and the library reads
//     beyond the end of those of the one that has fewer.
//   - Language models as encoders read any prompt whole.
func (m Model) PromptLimit() Limit {
	switch m.Family.Name {
	case "Stable Diffusion 3":
		return Limit{Tokens: clipTokens, Clip: true, T5: m.hasT5()}
	case "FLUX":
		if !m.hasT5() {
			return Limit{Tokens: clipTokens, Clip: true}
		}
	}
	return Limit{}
}

func (m Model) hasT5() bool {
	return m.Path(T5) != "" || len(m.Parts) > 0 && m.Parts[0].hasT5
}
