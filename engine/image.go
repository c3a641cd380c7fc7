package engine

// ImageRequest asks for pictures of what a text describes.
type ImageRequest struct {
	Model   string
	Prompt  string
	Choices int // how many pictures, at least 1
	Width   int // in pixels; 0, and so is Height: as the model likes
	Height  int
	Quality string // in the words of the OpenAI style; empty: as the model likes
	Style   string // as Quality
}
