package cassettes_test

import (
	"fmt"

	"github.com/diglot/diglot/cassettes"
)

// Every cassette is what one SDK sent in one case, and what it got.
func ExampleLoad() {
	all, err := cassettes.Load()
	if err != nil {
		panic(err) // an example has no t
	}
	for _, c := range all {
		name, sdk := cassettes.CaseOf(c)
		if name != "anthropic/messages/tool-runner" {
			continue
		}
		for _, i := range c.Interactions {
			fmt.Println(sdk, i.Request.Method, i.Request.URL, i.Response.Code)
		}
	}
	// Output:
	// go POST /v1/messages?beta=true 200
	// go POST /v1/messages?beta=true 200
	// node POST /v1/messages 400
	// node POST /v1/messages 200
	// node POST /v1/messages 200
	// python POST /v1/messages 400
	// python POST /v1/messages 200
	// python POST /v1/messages 200
}
