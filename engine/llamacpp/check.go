package llamacpp

import (
	"fmt"

	"github.com/diglot/diglot/engine/gguf"
)

// Check says what is wrong with a GGUF file, if its head or its length tells:
// that it is something else, or cut short, or lacks its other parts. It reads
// no weights and works in every build.
func Check(path string) error {
	_, err := gguf.Open(path)
	return err
}

// CheckProjector is Check for the file of a projector, and for none: an empty
// path.
func CheckProjector(path string) error {
	if path == "" {
		return nil
	}
	file, err := gguf.Open(path)
	if err != nil {
		return fmt.Errorf("projector %s: %w", path, err)
	}
	if !file.SeesImages() {
		return fmt.Errorf("projector %s: the file is not a projector for images", path)
	}
	return nil
}
