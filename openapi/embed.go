package openapi

import _ "embed"

//go:embed openai.yaml
var openAI []byte

//go:embed anthropic.yaml
var anthropic []byte

// OpenAI loads the document of the OpenAI style.
func OpenAI() (*Document, error) { return Load(openAI) }

// Anthropic loads the document of the Anthropic style.
func Anthropic() (*Document, error) { return Load(anthropic) }
