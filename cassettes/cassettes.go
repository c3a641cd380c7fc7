// Package cassettes has recordings of the vendors' SDKs talking to diglot, case by
// case ([Cases]).
//
// tools/sdk records them through a proxy, over the model in script.yaml, while each SDK
// suite asserts what its SDK made of the reply. The tests here replay every recorded
// request against the handlers, in process. The document checks what it can state; a
// recording adds that the reply is unchanged, and that the request is a real client's.
//
// After an intended change: make record, and review the diff.
package cassettes

import (
	"embed"
	"strings"

	"github.com/diglot/diglot/internal/cassette"
)

//go:embed script.yaml openai anthropic
var files embed.FS

// Script returns the script of the recordings.
func Script() []byte {
	text, err := files.ReadFile("script.yaml")
	if err != nil {
		panic(err) // it is embedded
	}
	return text
}

// Load reads all cassettes, in order of their names: style/operation/case-sdk.
func Load() ([]cassette.Cassette, error) {
	return cassette.ReadFS(files, "anthropic", "openai")
}

// CaseOf returns the case and the SDK of a recording.
func CaseOf(c cassette.Cassette) (name, sdk string) {
	i := strings.LastIndexByte(c.Name, '-')
	return c.Name[:i], c.Name[i+1:]
}
