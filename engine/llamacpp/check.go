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

// CheckProjector is Check for the file of a projector.
func CheckProjector(path string) error {
	_, err := projectorBytes(path)
	return err
}

// projectorBytes is the size of a projector's file, after a look at its head;
// 0 without a path.
func projectorBytes(path string) (int64, error) {
	if path == "" {
		return 0, nil
	}
	file, err := gguf.Open(path)
	if err != nil {
		return 0, fmt.Errorf("projector %s: %w", path, err)
	}
	if !file.SeesImages() {
		return 0, fmt.Errorf("projector %s: the file is not a projector for images", path)
	}
	return file.Size, nil
}
