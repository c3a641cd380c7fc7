// Command miniature writes the image model of package diffusiontest:
//
//	go run ./tools/miniature MODEL.safetensors AUTOENCODER.safetensors
package main

import (
	"fmt"
	"os"

	"github.com/diglot/diglot/engine/diffusion/diffusiontest"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: miniature MODEL.safetensors AUTOENCODER.safetensors")
		os.Exit(2)
	}
	if err := diffusiontest.Write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "miniature:", err)
		os.Exit(1)
	}
}
