package main

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/diglot/diglot/tools/internal/peer"
)

// template is that of the two text models. Ollama recognises their own in the files, but
// puts one without tools in its place, and then refuses tools.
//
//go:embed ollama.tmpl
var template string

// modelfile is a model in Ollama, with one thread as in llama-server: more of them wait for
// each other where processors are busy.
func modelfile(m model) []byte {
	text := fmt.Appendf(nil, "FROM %s\nPARAMETER num_thread 1\nPARAMETER num_predict %s\n", m.file, ollamaTokens)
	if m.group == "embedding" {
		return text
	}
	return fmt.Appendf(text, "TEMPLATE \"\"\"%s\"\"\"\n", template)
}

// createInOllama puts the models into Ollama's store.
func createInOllama(ctx context.Context, program, address string, models []model) error {
	for _, m := range models {
		if err := peer.CreateInOllama(ctx, program, address, m.name, modelfile(m)); err != nil {
			return err
		}
	}
	return nil
}
