package openapi_test

import (
	"fmt"

	"github.com/diglot/diglot/openapi"
)

// The document decides: an error names the field that is wrong, and a field without effect
// is removed and listed.
func ExampleOperation_Check() {
	document, err := openapi.OpenAI()
	if err != nil {
		panic(err)
	}
	chat, _ := document.Route("POST", "/v1/chat/completions")
	for _, body := range []string{
		`{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "temperature": 3}`,
		`{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "mood": "good"}`,
	} {
		checked, violation := chat.Check([]byte(body))
		if violation != nil {
			fmt.Println(violation.Param(), violation.Reason)
			continue
		}
		fmt.Printf("%s\nignored: %s\n", checked.Body, checked.Ignored[0].Name)
	}
	// Output:
	// temperature must be between 0 and 2
	// {"model":"m","messages":[{"role":"user","content":"Hi"}]}
	// ignored: mood
}

// The document profile refuses what the service's interface document calls unsupported.
func ExampleDocument_Narrow() {
	document, err := openapi.Anthropic()
	if err != nil {
		panic(err)
	}
	narrow, err := document.Narrow(openapi.ProfileDocument)
	if err != nil {
		panic(err)
	}
	body := []byte(`{"model": "m", "max_tokens": 9, "tool_choice": {"type": "any"}, "messages": [{"role": "user", "content": "Hi"}]}`)
	for _, d := range []*openapi.Document{document, narrow} {
		messages, _ := d.Route("POST", "/v1/messages")
		_, violation := messages.Check(body)
		fmt.Printf("%s: %v\n", d.Profile, violation)
	}
	// Output:
	// default: <nil>
	// document: tool_choice is not supported: The interface document calls it unsupported
}

// A reply is checked against the closed document, in which unknown fields fail.
func ExampleOperation_CheckReply() {
	document, err := openapi.OpenAI()
	if err != nil {
		panic(err)
	}
	models, _ := document.Route("GET", "/v1/models")
	fmt.Println(models.CheckReply(200, "application/json", []byte(`{"object": "list", "data": [], "mood": "good"}`)))
	// Output: listModels 200: mood is not known
}
