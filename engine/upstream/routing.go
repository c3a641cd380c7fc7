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

// maxPrefix is how much of a raw prompt counts as its beginning, in bytes:
// later pieces of the same text have this in common.
const maxPrefix = 1024

// affinity is the same for all turns of a conversation, and differs between
// conversations: a hash of what the later turns repeat, which is the tools,
// the instructions and the first thing that the user says. It has 128 bits
// and tells nothing of the text to somebody who does not have it. Nothing
// secret is mixed in: several servers in front of one router share no secret,
// and must send the same for the same conversation.
//
// So many turns of users and assistants as are examples come before the
// conversation: all have them, so that they neither count nor end the search.
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

// add writes each string with its length, so that no two lists are one text.
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

// checkRoute refuses a request that this program has sent itself, perhaps by
// way of others: without that, one request to a model whose definition names
// this server would become as many as the system has sockets for.
func (e *Engine) checkRoute(ctx context.Context) error {
	if e.config.Via == "" || !slices.Contains(engine.Route(ctx), e.config.Via) {
		return nil
	}
	return lasting(engine.CodeUnsupported, "The model leads in a circle: what %s is asked for comes back to this server. The definition of the model must name another server.", e.host).
		At(engine.Place{Field: engine.FieldModel})
}

// route is the header Via of a request (RFC 9110, 7.6.3): those that it came
// through, and this program. Empty: there is none.
func (e *Engine) route(ctx context.Context) string {
	if e.config.Via == "" {
		return ""
	}
	var members []string
	for _, server := range append(engine.Route(ctx), e.config.Via) {
		members = append(members, "1.1 "+server)
	}
	return strings.Join(members, ", ")
}
