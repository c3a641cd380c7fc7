package main

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/diglot/diglot/internal/cassette"
)

// fewNumbers is how many numbers of a vector a recording keeps.
const fewNumbers = 4

var vector = regexp.MustCompile(`"embedding":\s*\[[^\]]*\]`)

// shorten keeps recordings small: a few numbers of vectors, and a few words of the prompt
// that is too long. Nobody plays them to a client.
func shorten(i *cassette.Interaction) {
	i.Request.Body = strings.ReplaceAll(i.Request.Body, strings.Repeat("word ", 2990), "")
	i.Response.Body = vector.ReplaceAllStringFunc(i.Response.Body, func(found string) string {
		var numbers []json.Number
		_, list, _ := strings.Cut(found, ":")
		if json.Unmarshal([]byte(list), &numbers) != nil || len(numbers) <= fewNumbers {
			return found
		}
		short, err := json.Marshal(numbers[:fewNumbers])
		if err != nil {
			return found
		}
		return `"embedding":` + string(short)
	})
}
