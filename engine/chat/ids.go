package chat

import (
	"fmt"
	"io"

	"github.com/diglot/diglot/engine"
)

// idLength is how long the ids of calls are. They carry no prefix: each style
// writes its own in front.
const idLength = 24

const idAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// newID makes an id of n letters and digits from random bytes.
func newID(random io.Reader, n int) (string, error) {
	id := make([]byte, 0, n)
	var buf [32]byte
	for len(id) < n {
		if _, err := io.ReadFull(random, buf[:]); err != nil {
			return "", fmt.Errorf("random bytes for an id: %w", err)
		}
		for _, b := range buf {
			// 248 is the largest multiple of 62 below 256: every letter is as likely.
			if b < 248 && len(id) < n {
				id = append(id, idAlphabet[b%62])
			}
		}
	}
	return string(id), nil
}

// callIDs are the ids of the calls in messages.
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
