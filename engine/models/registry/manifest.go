package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/diglot/diglot/engine/models/store"
)

// manifestTries bounds the requests for a manifest, so that a user soon sees
// that a registry is down.
const manifestTries = 3

// Limits of a manifest. Existing models have dozens of layers and hundreds of
// gigabytes.
const (
	maxLayers = 1000
	maxSize   = 4 << 40 // of all layers
)

const mediaTypeDockerIndex = "application/vnd.docker.distribution.manifest.list.v2+json"

// accepted are the accepted media types of a manifest; Ollama accepts only the
// first. Indexes are included for a better error than "not found".
var accepted = []string{
	store.MediaTypeManifest,
	ocispec.MediaTypeImageManifest,
	mediaTypeDockerIndex,
	ocispec.MediaTypeImageIndex,
}

// manifest fetches and checks the manifest of the model.
func (s *session) manifest(ctx context.Context) ([]byte, store.Manifest, error) {
	again := s.retries()
	again.most = min(again.most, manifestTries)
	for {
		text, err := s.fetchManifest(ctx)
		if err == nil {
			m, err := s.checkManifest(text)
			return text, m, err
		}
		if err := again.wait(ctx, err); err != nil {
			return nil, store.Manifest{}, err
		}
	}
}

// fetchManifest fetches the bytes of the manifest. The headers for its length
// and digest are optional here, because Ollama's registry does not send them.
func (s *session) fetchManifest(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.config.Answer, errSlow)
	defer cancel()
	kinds := accepted
	if s.host.ollama {
		kinds = accepted[:1]
	}
	resp, err := s.get(ctx, manifests, s.name.Tag, http.Header{"Accept": kinds})
	if err != nil {
		return nil, cause(ctx, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, store.MaxManifest+1))
	if err != nil {
		return nil, cause(ctx, err)
	}
	if len(text) > store.MaxManifest {
		return nil, s.unusable("it is larger than %d bytes", store.MaxManifest)
	}
	want := digest.Digest(resp.Header.Get("Docker-Content-Digest"))
	if want.Validate() == nil && want.Algorithm() == digest.SHA256 && digest.FromBytes(text) != want {
		return nil, fmt.Errorf("the manifest has the digest %s, not %s as announced: %w", digest.FromBytes(text), want, store.ErrDigest)
	}
	return text, nil
}

// unusable is the error for an unusable manifest. The reason ends a sentence.
func (s *session) unusable(format string, args ...any) error {
	return failure(ErrNotModel, "%s has %s, but it cannot be used: %s.", s.name.Host, s.name, fmt.Sprintf(format, args...))
}

// checkManifest refuses anything but the manifest of a model, before its blobs
// are downloaded.
func (s *session) checkManifest(text []byte) (store.Manifest, error) {
	var head struct {
		SchemaVersion int
		MediaType     string
		Manifests     listed
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return store.Manifest{}, s.unusable("its manifest is invalid (%v)", err)
	}
	switch {
	case bool(head.Manifests), head.MediaType == mediaTypeDockerIndex, head.MediaType == ocispec.MediaTypeImageIndex:
		return store.Manifest{}, s.unusable("it is an image index for several platforms, not a model")
	case head.SchemaVersion != 2:
		return store.Manifest{}, s.unusable("its manifest has schema version %d, not 2", head.SchemaVersion)
	case head.MediaType != "" && !slices.Contains(accepted, head.MediaType):
		return store.Manifest{}, s.unusable("its manifest has the media type %.100q", head.MediaType)
	}
	m, err := store.ParseManifest(text)
	if err != nil {
		return m, s.unusable("%v", err)
	}
	return m, s.checkLayers(m)
}

// listed is true if a field is present.
type listed bool

// UnmarshalJSON implements [json.Unmarshaler].
func (l *listed) UnmarshalJSON(text []byte) error {
	*l = string(text) != "null"
	return nil
}

func (s *session) checkLayers(m store.Manifest) error {
	if len(m.Layers) > maxLayers {
		return s.unusable("its manifest has %d layers; the limit is %d", len(m.Layers), maxLayers)
	}
	if m.Config.Size > store.MaxConfig {
		return s.unusable("its config has %d bytes; the limit is %d", m.Config.Size, store.MaxConfig)
	}
	total := int64(0)
	sizes := map[digest.Digest]int64{}
	for _, l := range append(slices.Clone(m.Layers), m.Config) {
		if other, ok := sizes[l.Digest]; ok && other != l.Size {
			return s.unusable("its manifest gives %s two sizes", l.Digest)
		}
		sizes[l.Digest] = l.Size
		if l.Size > maxSize || total+l.Size > maxSize {
			return s.unusable("it is larger than %d TiB", int64(maxSize)>>40)
		}
		total += l.Size
	}
	return nil
}

// hasModel reports whether a layer is a model. A remote model has none: only its
// config tells.
func hasModel(m store.Manifest) bool {
	return slices.ContainsFunc(m.Layers, func(l store.Layer) bool {
		return l.MediaType == store.MediaTypeModel || l.MediaType == store.MediaTypeDiffusion
	})
}

// notModel is the error for a manifest without a model.
func (s *session) notModel(m store.Manifest) error {
	for _, l := range m.Layers {
		switch {
		case strings.HasPrefix(l.MediaType, "application/vnd.docker.image.rootfs."), strings.HasPrefix(l.MediaType, "application/vnd.oci.image.layer."):
			return s.unusable("it is a container image, not a model")
		case strings.HasPrefix(l.MediaType, "application/vnd.docker.ai."), strings.HasPrefix(l.MediaType, "application/vnd.cncf.model."):
			return s.unusable("it is a model in another format (%.100q); get its GGUF file with the tool for that format, and import it with diglot create", l.MediaType)
		case strings.HasPrefix(l.MediaType, "application/vnd.ollama.image.tensor") && strings.HasPrefix(l.Name, "transformer/"):
			return s.unusable("it is an image model as Ollama stores them, with a layer for each tensor, which is not supported; " +
				"import its safetensors or GGUF files with diglot create")
		case strings.HasPrefix(l.MediaType, "application/vnd.ollama.image.tensor"):
			return s.unusable("its weights are stored as single tensors, not as a GGUF file")
		}
	}
	return s.unusable("none of its layers is a model (%s)", store.MediaTypeModel)
}
