package modelfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/store"
)

// Definition is a stored model as a server needs it.
type Definition struct {
	Model     string   // path of the GGUF file; empty: a remote model
	Projector string   // path of the vision projector; empty: none
	Adapters  []string // paths
	Parts     []string // paths of the files of an image model, the diffusion model first; empty: it is none
	Template  string   // path of a Go or Jinja chat template; empty: the one in the GGUF file

	System     string
	Messages   []engine.Message
	Parameters Parameters

	Licenses []string
	Remote   *Remote // nil: a local model
	Config   store.Config

	// Warnings are sentences about parts without effect.
	Warnings []string
}

// Remote is a model on another server.
type Remote struct {
	URL   string // base URL of its OpenAI-style API, such as https://host/v1
	Model string // the model's name on the server

	// AffinityHeader is the request header with a hash of the conversation's
	// start, for routers with session affinity. Empty: the default; "-": none.
	AffinityHeader string

	Examples int // user and assistant turns that the Modelfile inserts
}

// Bounds of what is read into memory, in bytes.
const (
	maxText     = 1 << 20
	maxMessages = 32 << 20 // with images
)

// onlyPrompt matches the placeholder template of models with a RENDERER, which
// Ollama ignores. Rendering it would drop the conversation, so the GGUF file's
// own template is used.
var onlyPrompt = regexp.MustCompile(`^\s*\{\{-?\s*\.Prompt\s*-?\}\}\s*$`)

// maxWarnings keeps a log readable.
const maxWarnings = 20

// mediaTypePrompt is the old media type of templates.
const mediaTypePrompt = "application/vnd.ollama.image.prompt"

// Read reads a stored model. Errors are for users, and name the model and the
// part that is missing or invalid.
func Read(s *store.Store, m *store.Model) (*Definition, error) {
	d := &Definition{}
	var err error
	if d.Config, err = s.Config(m); err != nil {
		return nil, err
	}
	for _, l := range m.Manifest.Layers {
		if err := d.layer(s, l); err != nil {
			return nil, fmt.Errorf("model %s: %w", m.Name, err)
		}
	}
	if err := d.finish(); err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name, err)
	}
	if more := len(d.Warnings) - maxWarnings; more > 0 {
		d.Warnings = append(d.Warnings[:maxWarnings], fmt.Sprintf("%d more parts have no effect.", more))
	}
	return d, nil
}

// finish checks the definition as a whole, and makes it a remote one if it is.
func (d *Definition) finish() error {
	for _, unused := range []struct{ name, value string }{{Renderer, d.Config.Renderer}, {Parser, d.Config.Parser}} {
		if unused.value != "" {
			d.Warnings = append(d.Warnings, fmt.Sprintf("%s %s has no effect: it names code inside Ollama; the chat template is used.", unused.name, shown(unused.value)))
		}
	}
	if d.Config.RemoteHost != "" {
		address, err := remoteURL(d.Config.RemoteHost)
		if err != nil {
			return err
		}
		if d.Config.RemoteModel == "" {
			return errors.New("its name on the remote server is missing")
		}
		d.Remote = &Remote{URL: address, Model: d.Config.RemoteModel, AffinityHeader: d.Parameters.AffinityHeader}
		for _, m := range d.Messages {
			if !m.Role.Instructs() {
				d.Remote.Examples++
			}
		}
		return nil
	}
	if d.Parameters.AffinityHeader != "" {
		d.Warnings = append(d.Warnings, fmt.Sprintf("PARAMETER %s has no effect: the model is not a remote one.", parameterAffinity))
	}
	switch {
	case len(d.Parts) > 0 && d.Model != "":
		return errors.New("it is both a language model and an image model")
	case len(d.Parts) == 0 && d.Model == "":
		return errors.New("it has no GGUF file; other formats cannot be served")
	}
	return nil
}

// part adds a file of an image model.
func (d *Definition) part(s *store.Store, l store.Layer) error {
	path, err := weights(s, l, "a file of the image model")
	if l.MediaType == store.MediaTypeDiffusion {
		d.Parts = append([]string{path}, d.Parts...)
		return err
	}
	d.Parts = append(d.Parts, path)
	return err
}

func (d *Definition) layer(s *store.Store, l store.Layer) error {
	switch l.MediaType {
	case store.MediaTypeModel:
		return onlyPath(s, l, &d.Model, "the GGUF file")
	case store.MediaTypeProjector:
		return onlyPath(s, l, &d.Projector, "the projector")
	case store.MediaTypeDiffusion, store.MediaTypeDiffusionPart, store.MediaTypeDiffusionLoRA:
		return d.part(s, l)
	case store.MediaTypeAdapter:
		path, err := weights(s, l, "the adapter")
		d.Adapters = append(d.Adapters, path)
		return err
	case store.MediaTypeTemplate, mediaTypePrompt:
		text, err := readText(s, l, "the template")
		if d.Config.Renderer == "" || !onlyPrompt.MatchString(text) {
			d.Template = s.BlobPath(l.Digest)
		}
		return err
	case store.MediaTypeSystem:
		text, err := readText(s, l, "the system text")
		d.System = text
		return err
	case store.MediaTypeLicense:
		if l.Size > maxText {
			d.Warnings = append(d.Warnings, fmt.Sprintf("A license of %d bytes is omitted: the limit is %d.", l.Size, maxText))
			return nil
		}
		text, err := readText(s, l, "the license")
		d.Licenses = append(d.Licenses, text)
		return err
	case store.MediaTypeParams:
		return d.parameters(s, l)
	case store.MediaTypeMessages:
		return d.messages(s, l)
	}
	return nil
}

// onlyPath sets the path of a layer that a model may have only once.
func onlyPath(s *store.Store, l store.Layer, path *string, what string) error {
	if *path != "" {
		return fmt.Errorf("%s is there more than once", what)
	}
	var err error
	*path, err = weights(s, l, what)
	return err
}

// weights finds a large blob without reading it.
func weights(s *store.Store, l store.Layer, what string) (string, error) {
	path, err := s.Find(l)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return path, nil
}

// readText reads a text layer. Invalid UTF-8, which some programs write, becomes
// U+FFFD.
func readText(s *store.Store, l store.Layer, what string) (string, error) {
	raw, err := s.ReadBlob(l, maxText)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return strings.ToValidUTF8(string(raw), string(utf8.RuneError)), nil
}

func (d *Definition) parameters(s *store.Store, l store.Layer) error {
	raw, err := s.ReadBlob(l, maxText)
	if err != nil {
		return fmt.Errorf("the parameters: %w", err)
	}
	values, err := readParams(raw)
	if err != nil {
		return err
	}
	d.Parameters = values.parameters()
	d.Warnings = append(d.Warnings, values.warnings()...)
	return nil
}

// turn is a message as its layer stores it.
type turn struct {
	Role    string   `json:"role"`
	Content string   `json:"content"`
	Images  [][]byte `json:"images,omitempty"`
}

func readTurns(s *store.Store, l store.Layer) ([]turn, error) {
	raw, err := s.ReadBlob(l, maxMessages)
	if err != nil {
		return nil, fmt.Errorf("the messages: %w", err)
	}
	var turns []turn
	if err := json.Unmarshal(raw, &turns); err != nil {
		return nil, fmt.Errorf("the messages are not a JSON array of roles and texts: %w", err)
	}
	for i := range turns {
		turns[i].Role = strings.ToLower(turns[i].Role)
	}
	return turns, nil
}

func (d *Definition) messages(s *store.Store, l store.Layer) error {
	turns, err := readTurns(s, l)
	if err != nil {
		return err
	}
	d.Messages = nil
	images := 0
	for i, t := range turns {
		role, ok := engineRoles[t.Role]
		if !ok {
			d.Warnings = append(d.Warnings, fmt.Sprintf("Message %d has no effect: its role is %s, not %s.", i+1, shown(t.Role), strings.Join(roles, ", ")))
			continue
		}
		var parts []engine.Part
		images += len(t.Images)
		for _, data := range t.Images {
			parts = append(parts, engine.Image{Data: data})
		}
		if t.Content != "" || parts == nil {
			parts = append(parts, engine.Text{Text: t.Content})
		}
		d.Messages = append(d.Messages, engine.Message{Role: role, Parts: parts})
	}
	if images > engine.MaxImages {
		return fmt.Errorf("there are more than %d images in its messages", engine.MaxImages)
	}
	return nil
}

var engineRoles = map[string]engine.Role{"system": engine.RoleSystem, "user": engine.RoleUser, "assistant": engine.RoleAssistant}
