package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/diffusion/diffusiontest"
)

// miniature writes an image model, and returns the value of --model.
func miniature(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	model, autoencoder := filepath.Join(dir, "m"), filepath.Join(dir, "a")
	if err := diffusiontest.Write(model, autoencoder); err != nil {
		t.Fatal(err)
	}
	return "m=" + autoencoder + "," + model // in any order
}

const imagesPath = "/v1/images/generations"

// TestNoImageEngine: without the library there is an error that says how it comes.
func TestNoImageEngine(t *testing.T) {
	s := start(t, "--model", miniature(t))
	reply := post(t, s.url+imagesPath, `{"model":"m","prompt":"p"}`)
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != 400 || !strings.Contains(string(text), "make imagegen") {
		t.Errorf("status %d, error %v: %s", reply.StatusCode, err, text)
	}
}

// TestImageModelCutShort starts with a file that a broken download left.
func TestImageModelCutShort(t *testing.T) {
	_, files, _ := strings.Cut(miniature(t), "=")
	autoencoder, model, _ := strings.Cut(files, ",")
	whole, err := os.ReadFile(autoencoder)
	if err != nil {
		t.Fatal(err)
	}
	cut := write(t, "cut", string(whole[:len(whole)/2]))
	status, _, stderr := execute(t.Context(), "serve", "--model", fmt.Sprintf("m=%s,%s", model, cut))
	if status != 1 || !strings.Contains(stderr, `model "m"`) || !strings.Contains(stderr, "offsets") {
		t.Errorf("status %d:\n%s", status, stderr)
	}
}
