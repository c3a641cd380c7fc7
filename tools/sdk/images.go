package main

import (
	"context"
	"errors"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// imagesFolder is the environment variable that names the folder into which suites
// write the image of imageReference, each under its own name.
const imagesFolder = "SDK_IMAGES"

// imageReference is the request whose image the engine's own command line draws, too:
// the model has four steps, of which the quality low takes half.
var imageReference = []string{"-p", "a red house", "-W", "64", "-H", "64", "-s", "7", "--steps", "2", "--cfg-scale", "1", "-t", "2"}

// runImages runs the suites over a model that draws, and compares what they got.
func runImages(ctx context.Context, o options) error {
	folder, err := os.MkdirTemp("", "diglot-sdk-images-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if o.model, err = drawingModel(ctx, folder); err != nil {
		return err
	}
	if err := os.Setenv(imagesFolder, folder); err != nil { // of the suites
		return err
	}
	if err := runOffline(ctx, o); err != nil {
		return err
	}
	clients := o.suites
	if len(clients) == 0 {
		clients = []string{"python", "node", "go"}
	}
	return compareImages(folder, clients)
}

// drawingModel writes the miniature model and the reference into folder, and returns the
// value of --model.
func drawingModel(ctx context.Context, folder string) (string, error) {
	library, err := output(ctx, "go", "-C", root, "run", "./tools/imagegen", "-n")
	if err != nil {
		return "", err
	}
	model, autoencoder := filepath.Join(folder, "model.safetensors"), filepath.Join(folder, "autoencoder.safetensors")
	if _, err := output(ctx, "go", "-C", root, "run", "./tools/miniature", model, autoencoder); err != nil {
		return "", err
	}
	args := append([]string{"-m", model, "--taesd", autoencoder, "-o", filepath.Join(folder, "reference.png")}, imageReference...)
	if _, err := output(ctx, filepath.Join(filepath.Dir(library), "sd-cli"), args...); err != nil {
		return "", err
	}
	return "miniature=" + model + "," + autoencoder, nil
}

func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// compareImages fails unless each client got the pixels of the reference.
func compareImages(folder string, clients []string) error {
	want, err := pixels(filepath.Join(folder, "reference.png"))
	if err != nil {
		return err
	}
	var all []error
	for _, client := range clients {
		got, err := pixels(filepath.Join(folder, client+".png"))
		switch {
		case err != nil:
			all = append(all, err)
		case got != want:
			all = append(all, fmt.Errorf("%s: the image is not the one of the engine's command line", client))
		default: // the last line of the output has the counts
			fmt.Fprintf(os.Stderr, "%s: the image is that of the engine's command line\n", client)
		}
	}
	return errors.Join(all...)
}

// pixels are those of a PNG file, with its size.
func pixels(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	m, err := png.Decode(file)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(m.Bounds().String())
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			r, g, bl, _ := m.At(x, y).RGBA()
			b.Write([]byte{byte(r >> 8), byte(g >> 8), byte(bl >> 8)})
		}
	}
	return b.String(), nil
}
