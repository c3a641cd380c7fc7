// Package imagegen is an [engine.Engine] over any image model, as package chat
// is one over any language model. A [Model] only returns pixels; sizes, encoding
// and refusals are handled here for all models.
//
// For a diffusion model, quality is the number of denoising steps: low is half of
// the model's own number, medium and standard are that number, high and hd twice,
// xhigh three times and max four times as many. Style adds words to the prompt, and
// moves the guidance of models that have any: up by a quarter for vivid, down by a
// quarter for natural.
package imagegen
