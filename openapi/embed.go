package openapi

import (
	_ "embed"
	"sync"
)

//go:embed openai.yaml
var openAI []byte

//go:embed anthropic.yaml
var anthropic []byte

// OpenAI is the document of the OpenAI style. It is read once in a process,
// which takes a tenth of a second.
func OpenAI() (*Document, error) { return readOpenAI() }

// Anthropic is the document of the Anthropic style, read once as well.
func Anthropic() (*Document, error) { return readAnthropic() }

var (
	readOpenAI    = sync.OnceValues(func() (*Document, error) { return Load(openAI) })
	readAnthropic = sync.OnceValues(func() (*Document, error) { return Load(anthropic) })
)
