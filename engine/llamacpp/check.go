package llamacpp

// Check says what is wrong with a GGUF file, if its head or its length tells:
// that it is something else, or cut short, or lacks its other parts. It reads
// no weights and works in every build.
func Check(path string) error {
	_, err := inspect(path)
	return err
}
