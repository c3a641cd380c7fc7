// Command miniature writes the image model of package diffusiontest:
//
//	go run ./tools/miniature MODEL.safetensors AUTOENCODER.safetensors [LORA.safetensors]
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/diglot/diglot/engine/diffusion/diffusiontest"
)

func main() {
	if len(os.Args) != 3 && len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: miniature MODEL.safetensors AUTOENCODER.safetensors [LORA.safetensors]")
		os.Exit(2)
	}
	err := diffusiontest.Write(os.Args[1], os.Args[2])
	if len(os.Args) == 4 {
		err = errors.Join(err, diffusiontest.WriteLoRA(os.Args[3]))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "miniature:", err)
		os.Exit(1)
	}
}
