package store

import "fmt"

// MaxConfig bounds a config, in bytes; most have about 500.
const MaxConfig = 4 << 20

// Config is Ollama's metadata of a model.
type Config struct {
	ModelFormat   string   `json:"model_format"`   // "gguf"
	ModelFamily   string   `json:"model_family"`   // "llama"
	ModelFamilies []string `json:"model_families"` // with the projector's, such as "clip"
	ModelType     string   `json:"model_type"`     // number of parameters, such as "7.6B"
	FileType      string   `json:"file_type"`      // quantization, such as "Q4_K_M"
	Renderer      string   `json:"renderer,omitempty"`
	Parser        string   `json:"parser,omitempty"`
	Requires      string   `json:"requires,omitempty"` // minimum version of Ollama

	RemoteHost  string `json:"remote_host,omitempty"`  // server of a remote model
	RemoteModel string `json:"remote_model,omitempty"` // its name on that server

	Capabilities []string `json:"capabilities,omitempty"`
	ContextLen   int      `json:"context_length,omitempty"` // tokens; only for remote models
	EmbedLen     int      `json:"embedding_length,omitempty"`
	BaseName     string   `json:"base_name,omitempty"`

	Architecture string `json:"architecture"` // CPU architecture, not the model's
	OS           string `json:"os"`
	RootFS       RootFS `json:"rootfs"`
}

// RootFS repeats the layers, as a container image config requires.
type RootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

// Config reads the config of a model.
func (s *Store) Config(m *Model) (Config, error) {
	var c Config
	text, err := s.ReadBlob(m.Manifest.Config, MaxConfig)
	if err != nil {
		return c, fmt.Errorf("model %s: %w", m.Name, err)
	}
	if err := unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("model %s: invalid config: %w", m.Name, err)
	}
	return c, nil
}
