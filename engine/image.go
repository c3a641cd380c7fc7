package engine

// ImageRequest asks for images of what a prompt describes.
type ImageRequest struct {
	Model   string
	Prompt  string
	Choices int // number of images, at least 1
	Width   int // in pixels; both sides 0: model default
	Height  int
	Quality string // as in the OpenAI style; empty: model default
	Style   string // like Quality
}
