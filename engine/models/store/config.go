package store

import "fmt"

// MaxConfig is the most bytes of a config; most have about 500.
const MaxConfig = 4 << 20

// Config is what Ollama notes about a model beside its layers.
type Config struct {
	ModelFormat   string   `json:"model_format"`   // "gguf"
	ModelFamily   string   `json:"model_family"`   // "llama"
	ModelFamilies []string `json:"model_families"` // with the projector's, as "clip"
	ModelType     string   `json:"model_type"`     // how many parameters, as "7.6B"
	FileType      string   `json:"file_type"`      // the quantisation, as "Q4_K_M"
	Renderer      string   `json:"renderer,omitempty"`
	Parser        string   `json:"parser,omitempty"`
	Requires      string   `json:"requires,omitempty"` // the oldest version of Ollama that can run it

	RemoteHost  string `json:"remote_host,omitempty"`  // who serves the model, where it is not here
	RemoteModel string `json:"remote_model,omitempty"` // its name there

	Capabilities []string `json:"capabilities,omitempty"`
	ContextLen   int      `json:"context_length,omitempty"` // in tokens; of remote models
	EmbedLen     int      `json:"embedding_length,omitempty"`
	BaseName     string   `json:"base_name,omitempty"`

	Architecture string `json:"architecture"` // of the processor; not the model's
	OS           string `json:"os"`
	RootFS       RootFS `json:"rootfs"`
}

// RootFS lists the layers once more, as the form of a container image wants.
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
		return c, fmt.Errorf("model %s: its config is not JSON of the right form: %w", m.Name, err)
	}
	return c, nil
}
