package chat

import (
	"fmt"
	"io"

	"github.com/diglot/diglot/engine"
)

// idLength is the length of call ids, without the prefix that each API style adds.
const idLength = 24

const idAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// newID returns a random id of n letters and digits.
func newID(random io.Reader, n int) (string, error) {
	id := make([]byte, 0, n)
	var buf [32]byte
	for len(id) < n {
		if _, err := io.ReadFull(random, buf[:]); err != nil {
			return "", fmt.Errorf("random bytes for an id: %w", err)
		}
		for _, b := range buf {
			// 248 is the largest multiple of 62 below 256: no modulo bias.
			if b < 248 && len(id) < n {
				id = append(id, idAlphabet[b%62])
			}
		}
	}
	return string(id), nil
}

// callIDs returns the ids of the tool calls in messages.
func callIDs(messages []engine.Message) map[string]bool {
	ids := map[string]bool{}
	for _, m := range messages {
		for _, p := range m.Parts {
			if call, ok := p.(engine.ToolCall); ok {
				ids[call.ID] = true
			}
		}
	}
	return ids
}
