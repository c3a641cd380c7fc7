package main

import (
	"context"
	"fmt"
	"os"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/llamacpp"
	"github.com/diglot/diglot/engine/models/modelfile"
	"github.com/diglot/diglot/engine/models/store"
)

// descriptionJSON is the output of show. Unknown fields are absent.
type descriptionJSON struct {
	modelJSON
	Architecture  string          `json:"architecture,omitempty"`
	ParameterSize string          `json:"parameter_size,omitempty"`
	Quantization  string          `json:"quantization,omitempty"`
	ContextLength int             `json:"context_length,omitempty"` // training context in tokens
	Vision        bool            `json:"vision"`
	Kernels       string          `json:"kernels,omitempty"` // of matrix products, on this machine
	Capabilities  []string        `json:"capabilities"`      // see capabilities; empty: unknown
	Template      string          `json:"template"`
	System        string          `json:"system"`
	Parameters    []parameterJSON `json:"parameters"`
	Messages      []messageJSON   `json:"messages"`
	Licenses      []string        `json:"licenses"`
	Remote        *remoteJSON     `json:"remote,omitempty"`
	File          string          `json:"modelfile"`
	Layers        []layerJSON     `json:"layers"`
}

type parameterJSON struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type messageJSON struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

type remoteJSON struct {
	URL   string `json:"url"`
	Model string `json:"model"`
}

type layerJSON struct {
	MediaType string `json:"media_type"`
	Digest    string `json:"digest"`
	Size      int64  `json:"size"`
}

func newDescription(env environment, store *store.Store, m *store.Model, d *modelfile.Definition) (*descriptionJSON, error) {
	all := &descriptionJSON{
		modelJSON:     toJSON(m),
		Architecture:  d.Config.ModelFamily,
		ParameterSize: d.Config.ModelType,
		Quantization:  d.Config.FileType,
		ContextLength: d.Config.ContextLen,
		Vision:        d.Projector != "",
		Capabilities:  []string{},
		System:        d.System,
		Parameters:    []parameterJSON{},
		Messages:      messagesJSON(d.Messages),
		Licenses:      append([]string{}, d.Licenses...),
		Layers:        []layerJSON{},
	}
	for _, l := range m.Manifest.Layers {
		all.Layers = append(all.Layers, layerJSON{l.MediaType, l.Digest.String(), l.Size})
	}
	if d.Remote != nil {
		all.Remote = &remoteJSON{d.Remote.URL, d.Remote.Model}
	}
	if err := all.readFile(store, m); err != nil {
		return nil, err
	}
	return all, all.readHead(env, d)
}

// readFile adds the Modelfile and its parameters.
func (all *descriptionJSON) readFile(store *store.Store, m *store.Model) error {
	file, err := modelfile.Of(store, m)
	if err != nil {
		return err
	}
	all.File = file.String()
	for _, i := range file.Instructions {
		if i.Name == modelfile.Parameter {
			all.Parameters = append(all.Parameters, parameterJSON{i.Key, i.Value})
		}
	}
	return nil
}

// readHead adds the GGUF metadata and the chat template.
func (all *descriptionJSON) readHead(env environment, d *modelfile.Definition) error {
	if d.Template != "" {
		text, err := os.ReadFile(d.Template)
		if err != nil {
			return err
		}
		all.Template = string(text)
	}
	if len(d.Parts) > 0 {
		all.Capabilities = []string{"image"}
	}
	if d.Model == "" {
		return nil
	}
	head, err := gguf.Open(d.Model)
	if err != nil {
		return fmt.Errorf("model %s: %w", all.Name, err)
	}
	all.Architecture = head.Architecture()
	all.Quantization = head.Quantization()
	all.ContextLength = head.Context()
	all.Kernels = llamacpp.DescribeKernels(head)
	all.ParameterSize = billions(head.Parameters())
	if all.Template == "" {
		all.Template = head.Template()
	}
	all.Capabilities = capabilities(env, head, all.Template, all.Vision)
	return nil
}

// capabilities returns what a model can do, as far as its metadata and chat
// template tell: only embeddings, or completion and any of chat, tools, thinking
// and vision.
func capabilities(env environment, head *gguf.File, template string, vision bool) []string {
	if only, _ := head.Embeds(); only {
		return []string{"embeddings"}
	}
	all := []string{"completion"}
	if template != "" {
		all = append(all, templateCapabilities(env, template)...)
	}
	if vision {
		all = append(all, "vision")
	}
	return all
}

// templateCapabilities returns none for an unusable template, which is reported
// when the model is loaded.
func templateCapabilities(env environment, source string) []string {
	report, err := tryTemplate(context.Background(), env, source)
	if err != nil {
		return nil
	}
	all := []string{"chat"}
	if report.Tools {
		all = append(all, "tools")
	}
	if report.Thinking {
		all = append(all, "thinking")
	}
	return all
}

// billions formats a number of parameters like model names do: 7B.
func billions(n int64) string {
	switch {
	case n <= 0:
		return ""
	case n < 1_000_000:
		return fmt.Sprint(n)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.4gM", float64(n)/1e6)
	}
	return fmt.Sprintf("%.4gB", float64(n)/1e9)
}

func messagesJSON(messages []engine.Message) []messageJSON {
	all := []messageJSON{}
	for _, m := range messages {
		one := messageJSON{Role: string(m.Role)}
		for _, p := range m.Parts {
			if text, ok := p.(engine.Text); ok {
				one.Text += text.Text
			}
		}
		all = append(all, one)
	}
	return all
}
