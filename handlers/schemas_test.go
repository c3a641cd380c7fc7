package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/diglot/diglot/handlers"
)

// TestSchemasThatAreTooLarge checks that a schema which costs too much is an error with its
// tool and parameter, with a real grammar, and that agents' schemas pass.
func TestSchemasThatAreTooLarge(t *testing.T) {
	var wide strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&wide, `,"p%d":{}`, i)
	}
	var names strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&names, `,{"required":["p%d"]}`, i)
	}
	product := `{"type":"object","properties":{` + wide.String()[1:] + `},"anyOf":[` + names.String()[1:] + `]}`
	long := `{"type":"object","properties":{"` + strings.Repeat("n", 60_000) + `":{}}}`
	agent := `{"type":"object","properties":{"path":{"type":"string","description":"` + strings.Repeat("Where to look. ", 4000) + `"},"mode":{"enum":["read","write"]}},"required":["path"]}`
	h := newHandler(t, handlers.Config{Engine: playing(t, `models: {m: {format: hermes, context: 1000000, replies: [{pieces: [x]}]}}`)})
	for _, tt := range []struct {
		name, schema string
		status       int
	}{
		{"a product", product, 400},
		{"a long name", long, 400},
		{"an agent's", agent, 200},
	} {
		for _, style := range styles {
			tools, param := `{"type":"function","function":{"name":"small","parameters":{}}},{"type":"function","function":{"name":"huge","parameters":`+tt.schema+`}}`, "tools[1].function.parameters"
			if style.name == "anthropic" {
				tools, param = `{"name":"small","input_schema":{"type":"object"}},{"name":"huge","input_schema":`+tt.schema+`}`, ""
			}
			for _, body := range []string{style.body, style.stream} {
				w := post(t, h, style.path, []byte(body[:len(body)-1]+`,"tools":[`+tools+`]}`))
				if w.Code != tt.status {
					t.Errorf("%s, %s: status %d, want %d: %.300s", style.name, tt.name, w.Code, tt.status, w.Body)
				}
				if w.Code != 400 {
					continue
				}
				e, _ := errorOf(t, w.Body)
				if !strings.Contains(e.Message, "huge") || !strings.Contains(e.Message, "too large") || !strings.HasPrefix(text(e.Param), param) {
					t.Errorf("%s, %s: the error is %q at %q", style.name, tt.name, e.Message, text(e.Param))
				}
			}
		}
	}
}
