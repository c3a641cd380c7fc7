package llamacpp

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/decode"
)

func describe(path string, changed time.Time, file *gguf.File, vocab *decode.Vocabulary, limit int) chat.Info {
	return chat.Info{
		Name:     nameOf(file, path),
		Owner:    file.String("general.organization"),
		Changed:  changed,
		Template: file.Template(),
		BOS:      vocab.Text(vocab.BOS),
		EOS:      vocab.Text(vocab.EOS),
		Control:  slices.Sorted(maps.Keys(vocab.Control)),
		FIM:      vocab.FIM,
		Context:  limit,
		Sampling: sampling(file),
	}
}

func nameOf(file *gguf.File, path string) string {
	if name := file.String("general.name"); name != "" {
		return name
	}
	return strings.TrimSuffix(filepath.Base(path), ".gguf")
}

// sampling returns the sampling parameters that the metadata recommends, without
// those out of range.
func sampling(file *gguf.File) (s engine.Sampling) {
	for p := range engine.SamplingParams() {
		if p.Model == "" {
			continue
		}
		if v, ok := recommended(file, p); ok && p.Recommended.Has(v) {
			p.Set(&s, p.Value(v))
		}
	}
	return s
}

func recommended(file *gguf.File, p *engine.SamplingParam) (float64, bool) {
	key := "general.sampling." + p.Model
	if p.Whole {
		v, ok := file.Int(key)
		return float64(v), ok
	}
	return file.Float(key)
}
