package conformance_test

import (
	"fmt"
	"strings"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// Cases are requests for a server, each with one odd value and with what the
// server has to do about it.
func ExampleCases() {
	document, err := openapi.OpenAI()
	if err != nil {
		panic(err)
	}
	embeddings, _ := document.Route("POST", "/v1/embeddings")
	cases, err := conformance.Cases(embeddings)
	if err != nil {
		panic(err)
	}
	for _, c := range cases {
		if strings.HasPrefix(c.Name, "dimensions") {
			fmt.Println(c.Name, "->", c.Want)
		}
	}
	// Output:
	// dimensions: null -> nothing
	// dimensions: wrong type -> invalid
	// dimensions: beyond the range of numbers -> invalid
	// dimensions: a fraction -> invalid
	// dimensions: too small -> invalid
	// dimensions: too large -> invalid
}
