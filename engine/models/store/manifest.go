package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/opencontainers/go-digest"

	"github.com/diglot/diglot/internal/plainjson"
)

// The media types of layers that Ollama has.
const (
	MediaTypeModel     = "application/vnd.ollama.image.model"     // a GGUF file
	MediaTypeProjector = "application/vnd.ollama.image.projector" // a GGUF file that reads pictures
	MediaTypeAdapter   = "application/vnd.ollama.image.adapter"   // a GGUF file: LoRA
	MediaTypeTemplate  = "application/vnd.ollama.image.template"  // a Go template
	MediaTypeSystem    = "application/vnd.ollama.image.system"    // text
	MediaTypeParams    = "application/vnd.ollama.image.params"    // a JSON object
	MediaTypeMessages  = "application/vnd.ollama.image.messages"  // a JSON array
	MediaTypeLicense   = "application/vnd.ollama.image.license"   // text
)

// The media types of a manifest and of the config that it names.
const (
	MediaTypeManifest = "application/vnd.docker.distribution.manifest.v2+json"
	MediaTypeConfig   = "application/vnd.docker.container.image.v1+json"
)

// MaxManifest is the most bytes of a manifest; registries take 4 MiB.
const MaxManifest = 4 << 20

// maxValues is the most values of a manifest or a config, objects and lists with
// those in them: a thousand layers have ten thousand. Each is decoded to many more
// bytes than it may have as a text.
const maxValues = 100_000

// Manifest says what a model consists of.
type Manifest struct {
	SchemaVersion int     `json:"schemaVersion"`
	MediaType     string  `json:"mediaType"`
	Config        Layer   `json:"config"`
	Layers        []Layer `json:"layers"`
}

// Layer is one blob of a model, and what it is for.
type Layer struct {
	MediaType string        `json:"mediaType"`
	Digest    digest.Digest `json:"digest"`
	Size      int64         `json:"size"`           // in bytes
	From      string        `json:"from,omitempty"` // the model or file that a layer was taken from
	Name      string        `json:"name,omitempty"` // of a tensor, where each is a layer

	Annotations map[string]string `json:"annotations,omitempty"`
}

// Encode gives the manifest as JSON, as [Change.Put] takes it.
func (m Manifest) Encode() ([]byte, error) {
	if m.SchemaVersion == 0 {
		m.SchemaVersion = 2
	}
	if m.MediaType == "" {
		m.MediaType = MediaTypeManifest
	}
	if m.Layers == nil {
		m.Layers = []Layer{}
	}
	return json.Marshal(m)
}

// ParseManifest reads a manifest and checks it: every digest can be part of a
// path, and every size can be true. Members that are not known are left
// alone. The error says what is wrong, without a name.
func ParseManifest(text []byte) (Manifest, error) {
	var m Manifest
	if len(text) > MaxManifest {
		return m, fmt.Errorf("the manifest has %d bytes, more than %d", len(text), MaxManifest)
	}
	if err := unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("the manifest is not JSON of the right form: %w", err)
	}
	if m.Config.Digest == "" {
		return m, errors.New("the manifest names no config")
	}
	var size int64
	for _, l := range m.all() {
		if err := l.check(); err != nil {
			return m, err
		}
		if l.Size > math.MaxInt64-size {
			return m, errors.New("the layers of the manifest have more bytes than there can be")
		}
		size += l.Size
	}
	return m, nil
}

// unmarshal decodes what is no more than a manifest or a config may be.
func unmarshal(text []byte, v any) error {
	if plainjson.Values(text) > maxValues {
		return fmt.Errorf("it has more than %d values", maxValues)
	}
	return json.Unmarshal(text, v)
}

// all is every layer, and the config.
func (m *Manifest) all() []Layer {
	return append(append(make([]Layer, 0, len(m.Layers)+1), m.Layers...), m.Config)
}

func (l Layer) check() error {
	if err := checkDigest(l.Digest); err != nil {
		return fmt.Errorf("the manifest names a layer by %w", err)
	}
	if l.Size < 0 {
		return fmt.Errorf("the manifest gives layer %s a size of %d bytes", l.Digest, l.Size)
	}
	return nil
}

// checkDigest takes sha256 digests alone, as the layout has no other. It is
// what keeps a digest from leaving the store.
func checkDigest(d digest.Digest) error {
	hex, found := strings.CutPrefix(string(d), "sha256:")
	if !found || len(hex) != 64 || strings.Trim(hex, "0123456789abcdef") != "" {
		text := string(d)
		if len(text) > 100 {
			text = text[:100] + "…"
		}
		return fmt.Errorf("%q, which is not a digest (sha256: and 64 digits from 0 to f)", text)
	}
	return nil
}
