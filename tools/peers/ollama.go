package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	home, err := os.MkdirTemp("", "peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	for _, m := range models {
		file := filepath.Join(home, m.name)
		if err := os.WriteFile(file, modelfile(m), 0o600); err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, program, "create", m.name, "-f", file)
		cmd.Env = append(os.Environ(), "OLLAMA_HOST="+address, "HOME="+home)
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("ollama create %s: %w\n%s", m.name, err, said)
		}
	}
	return nil
}
