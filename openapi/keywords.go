package openapi

import (
	"fmt"
	"slices"
	"strings"
)

// keywords are the JSON Schema keywords that a document may use: true for those that
// requests and replies are checked by, false for those that only inform readers. A document
// with any other keyword does not load, so that nothing is silently unenforced.
var keywords = map[string]bool{
	"type": true, "enum": true,
	"required": true, "properties": true, "additionalProperties": true, "propertyNames": true, "minProperties": true, "maxProperties": true,
	"items": true, "minItems": true, "maxItems": true, "uniqueItems": true,
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true,
	"minLength": true, "maxLength": true, "pattern": true,
	"oneOf": true, "anyOf": true, "discriminator": true,
	"contentMediaType": true, "contentSchema": true, // in replies and events
	"format": true, // int32, int64 and float; others inform

	"title": false, "description": false, "default": false, "example": false, "examples": false,
	"deprecated": false, "externalDocs": false,
}

// alternatives says what to write for keywords that people are likely to try.
var alternatives = map[string]string{
	"const":    "an enum of one value says the same and also names a type",
	"allOf":    "an object written in parts cannot be closed against unknown members",
	"nullable": "list null among the types",
	"$defs":    "every object is a component with a name",
	"not":      "say what is allowed",
}

// CheckKeyword returns an error for a schema keyword that is not enforced. Extensions
// (x-...) are always allowed.
func CheckKeyword(keyword string) error {
	if _, ok := keywords[keyword]; ok || strings.HasPrefix(keyword, "x-") {
		return nil
	}
	if hint, ok := alternatives[keyword]; ok {
		return fmt.Errorf("keyword %s is not enforced: %s", keyword, hint)
	}
	return fmt.Errorf("keyword %s is not enforced; the enforced ones are %s", keyword, strings.Join(enforced(), ", "))
}

func enforced() []string {
	var names []string
	for name, is := range keywords {
		if is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
