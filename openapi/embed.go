package openapi

import (
	_ "embed"
	"fmt"
	"sync"
)

//go:embed openai.yaml
var openAI []byte

//go:embed anthropic.yaml
var anthropic []byte

// OpenAI returns the document of the OpenAI style. It is compiled once per process, which
// takes a tenth of a second.
func OpenAI() (*Document, error) { return readOpenAI() }

// Anthropic returns the document of the Anthropic style, compiled once as well.
func Anthropic() (*Document, error) { return readAnthropic() }

// Documents holds the documents of both styles.
type Documents struct{ OpenAI, Anthropic *Document }

// Embedded returns the documents of this server.
func Embedded() (Documents, error) {
	openAI, err := OpenAI()
	if err != nil {
		return Documents{}, fmt.Errorf("openai.yaml: %w", err)
	}
	anthropic, err := Anthropic()
	if err != nil {
		return Documents{}, fmt.Errorf("anthropic.yaml: %w", err)
	}
	return Documents{openAI, anthropic}, nil
}

// Narrow returns both documents compiled for a profile.
func (d Documents) Narrow(p Profile) (Documents, error) {
	openAI, err := d.OpenAI.Narrow(p)
	if err != nil {
		return Documents{}, err
	}
	anthropic, err := d.Anthropic.Narrow(p)
	return Documents{openAI, anthropic}, err
}

var (
	readOpenAI    = sync.OnceValues(func() (*Document, error) { return Load(openAI) })
	readAnthropic = sync.OnceValues(func() (*Document, error) { return Load(anthropic) })
)
