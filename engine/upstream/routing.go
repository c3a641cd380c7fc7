package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
	"strconv"
	"strings"

	"github.com/diglot/diglot/engine"
)

// maxPrefix is how much of a raw prompt identifies it, in bytes: a later request
// that continues the same text has the same prefix.
const maxPrefix = 1024

// affinity is the same for all turns of a conversation, and differs between
// conversations: a hash of what later turns repeat, which is the tools, the
// instructions and the first user message. Its 128 bits do not reveal the text.
// It has no secret salt, because several servers in front of one router must
// send the same hash for the same conversation.
//
// The first examples user and assistant messages are the same in every
// conversation, and skipped.
func affinity(model string, examples int, req *engine.Request) string {
	h := prefixHash{sha256.New()}
	h.add("model", model)
	if req.Prompt != nil {
		text := req.Prompt.Text
		h.add("prompt", text[:min(len(text), maxPrefix)])
		return h.sum()
	}
	for _, t := range req.Tools {
		h.add("tool", t.Name, t.Description, string(t.Parameters))
	}
	for _, m := range req.Messages {
		said := !m.Role.Instructs()
		if said && examples > 0 {
			examples--
			continue
		}
		if m.Role == engine.RoleAssistant || m.Role == engine.RoleTool {
			break
		}
		h.add(string(m.Role), m.Name)
		h.parts(m.Parts)
		if m.Role == engine.RoleUser {
			break
		}
	}
	return h.sum()
}

type prefixHash struct{ hash.Hash }

// add prefixes each string with its length, so that different lists hash differently.
func (h prefixHash) add(kind string, values ...string) {
	h.Write([]byte(kind + ":" + strconv.Itoa(len(values)) + "\n"))
	for _, v := range values {
		h.Write([]byte(strconv.Itoa(len(v)) + ":" + v + "\n"))
	}
}

func (h prefixHash) parts(parts []engine.Part) {
	for _, p := range parts {
		switch p := p.(type) {
		case engine.Text:
			h.add("text", p.Text)
		case engine.Image:
			h.add("image", p.URL)
			sum := sha256.Sum256(p.Data)
			h.Write(sum[:])
		}
	}
}

func (h prefixHash) sum() string { return hex.EncodeToString(h.Sum(nil)[:16]) }

// checkRoute refuses a request that this process has forwarded before. Without
// it, a request to a model whose Modelfile names this server would multiply until
// the system runs out of sockets.
func (e *Engine) checkRoute(ctx context.Context) error {
	if e.config.Via == "" || !slices.Contains(engine.Route(ctx), e.config.Via) {
		return nil
	}
	return noRetry(engine.CodeUnsupported, "The model is in a forwarding loop: requests to %s come back to this server. Name another server in the Modelfile.", e.host).
		At(engine.Place{Field: engine.FieldModel})
}

// route returns the Via header of a request (RFC 9110, 7.6.3): the servers that it
// came through, and this one. Empty: none is sent.
func (e *Engine) route(ctx context.Context) string {
	if e.config.Via == "" {
		return ""
	}
	var entries []string
	for _, server := range append(engine.Route(ctx), e.config.Via) {
		entries = append(entries, "1.1 "+server)
	}
	return strings.Join(entries, ", ")
}
