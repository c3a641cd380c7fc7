package export

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// downgrade makes OpenAPI 3.1 of 3.2, which knows no event streams. A stream becomes
// text; its events stay among the components.
func downgrade(n *yaml.Node) {
	for _, child := range n.Content {
		downgrade(child)
	}
	if events := get(n, "itemSchema"); events != nil {
		set(n, "itemSchema", eventText(events))
		for i := range n.Content {
			if n.Content[i].Value == "itemSchema" {
				n.Content[i].Value = "schema"
			}
		}
	}
	if get(n, "openapi") != nil {
		set(n, "openapi", text(string(Version31)))
	}
}

// eventText is the schema of a whole stream as one text.
func eventText(events *yaml.Node) *yaml.Node {
	description := "Server-sent events."
	if ref := get(events, "$ref"); ref != nil {
		description = "Server-sent events, each as in " + strings.TrimPrefix(ref.Value, schemaPath) + "."
	}
	return object("type", text("string"), "description", text(description))
}
