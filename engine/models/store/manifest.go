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

// Ollama's media types of layers.
const (
	MediaTypeModel     = "application/vnd.ollama.image.model"     // a GGUF file
	MediaTypeProjector = "application/vnd.ollama.image.projector" // a GGUF file: vision encoder
	MediaTypeAdapter   = "application/vnd.ollama.image.adapter"   // a GGUF file: LoRA
	MediaTypeTemplate  = "application/vnd.ollama.image.template"  // a Go template
	MediaTypeSystem    = "application/vnd.ollama.image.system"    // text
	MediaTypeParams    = "application/vnd.ollama.image.params"    // a JSON object
	MediaTypeMessages  = "application/vnd.ollama.image.messages"  // a JSON array
	MediaTypeLicense   = "application/vnd.ollama.image.license"   // text
)

// Our own media types, of image models. Ollama's have a layer for each tensor.
const (
	MediaTypeDiffusion     = "application/vnd.diglot.diffusion.model" // a safetensors or GGUF file
	MediaTypeDiffusionPart = "application/vnd.diglot.diffusion.part"  // likewise: text encoder or autoencoder
	MediaTypeDiffusionLoRA = "application/vnd.diglot.diffusion.lora"  // likewise
)

// The media types of a manifest and its config.
const (
	MediaTypeManifest = "application/vnd.docker.distribution.manifest.v2+json"
	MediaTypeConfig   = "application/vnd.docker.container.image.v1+json"
)

// MaxManifest bounds a manifest, in bytes; registries accept 4 MiB.
const MaxManifest = 4 << 20

// maxValues bounds the JSON values of a manifest or config, because a decoded
// value takes far more memory than its text. A thousand layers have ten thousand.
const maxValues = 100_000

// Manifest lists the blobs of a model.
type Manifest struct {
	SchemaVersion int     `json:"schemaVersion"`
	MediaType     string  `json:"mediaType"`
	Config        Layer   `json:"config"`
	Layers        []Layer `json:"layers"`
}

// Layer is one blob of a model.
type Layer struct {
	MediaType string        `json:"mediaType"`
	Digest    digest.Digest `json:"digest"`
	Size      int64         `json:"size"`           // in bytes
	From      string        `json:"from,omitempty"` // the model or file that it was taken from
	Name      string        `json:"name,omitempty"` // of a tensor, if each is a layer

	Annotations map[string]string `json:"annotations,omitempty"`
}

// Encode encodes the manifest as JSON for [Change.Put].
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

// ParseManifest decodes and validates a manifest: its digests are safe in a path
// and its sizes are possible. Unknown fields are ignored. The error does not
// contain the model name.
func ParseManifest(text []byte) (Manifest, error) {
	var m Manifest
	if len(text) > MaxManifest {
		return m, fmt.Errorf("the manifest has %d bytes; the limit is %d", len(text), MaxManifest)
	}
	if err := unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("invalid manifest: %w", err)
	}
	if m.Config.Digest == "" {
		return m, errors.New("the manifest has no config")
	}
	var size int64
	for _, l := range m.all() {
		if err := l.check(); err != nil {
			return m, err
		}
		if l.Size > math.MaxInt64-size {
			return m, errors.New("the sizes of the manifest's layers overflow")
		}
		size += l.Size
	}
	return m, nil
}

// unmarshal decodes a manifest or a config within maxValues.
func unmarshal(text []byte, v any) error {
	if plainjson.Values(text) > maxValues {
		return fmt.Errorf("it has more than %d values", maxValues)
	}
	return json.Unmarshal(text, v)
}

// all is every layer and the config.
func (m *Manifest) all() []Layer {
	return append(append(make([]Layer, 0, len(m.Layers)+1), m.Layers...), m.Config)
}

func (l Layer) check() error {
	if err := checkDigest(l.Digest); err != nil {
		return fmt.Errorf("invalid layer in the manifest: %w", err)
	}
	if l.Size < 0 {
		return fmt.Errorf("invalid size of layer %s in the manifest: %d bytes", l.Digest, l.Size)
	}
	return nil
}

// checkDigest accepts only sha256 digests, as the layout has no other. It keeps
// a digest from becoming a path outside the store.
func checkDigest(d digest.Digest) error {
	hex, found := strings.CutPrefix(string(d), "sha256:")
	if !found || len(hex) != 64 || strings.Trim(hex, "0123456789abcdef") != "" {
		text := string(d)
		if len(text) > 100 {
			text = text[:100] + "…"
		}
		return fmt.Errorf("%q is not a digest (sha256: and 64 hex digits)", text)
	}
	return nil
}
