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
)

func describe(path string, changed time.Time, file *gguf.File, vocab *vocabulary, limit int) chat.Info {
	return chat.Info{
		Name:     nameOf(file, path),
		Owner:    file.String("general.organization"),
		Changed:  changed,
		Template: file.Template(),
		BOS:      vocab.spelled(vocab.bos),
		EOS:      vocab.spelled(vocab.eos),
		Control:  slices.Sorted(maps.Keys(vocab.control)),
		FIM:      vocab.fim,
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

// sampling is what the file recommends. A value that makes no sense is
// left out rather than believed.
func sampling(file *gguf.File) engine.Sampling {
	var s engine.Sampling
	if v, ok := file.Float("general.sampling.temp"); ok && v >= 0 && v <= 2 {
		s.Temperature = &v
	}
	if v, ok := file.Float("general.sampling.top_p"); ok && v > 0 && v <= 1 {
		s.TopP = &v
	}
	if v, ok := file.Float("general.sampling.min_p"); ok && v >= 0 && v <= 1 {
		s.MinP = &v
	}
	if v, ok := file.Int("general.sampling.top_k"); ok && v >= 0 {
		k := int(min(v, 1<<20))
		s.TopK = &k
	}
	return s
}
