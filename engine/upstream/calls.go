package upstream

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
)

// calls assembles tool calls from their deltas. In the style, the first delta
// of a call has its index, id and name, and the others only its index. Servers
// also send a call at once, omit ids, give every call the index 0, repeat the
// name in each delta, or send the name after the id.
type calls struct {
	begins    int   // calls started
	index     count // of the last call, from the server
	id        string
	own       bool // the id is the server's
	name      string
	begun     bool       // the last call has started
	arguments []byte     // of the last call, until it starts
	extent    jsonExtent // of the last call's arguments, so far
	seen      map[count]bool
	ids       map[string]bool
}

// maxArguments limits the arguments that may come before the name, in bytes.
const maxArguments = 1 << 20

// maxCalls limits the tool calls of one answer.
const maxCalls = 4096

// legalName matches the tool names that every style accepts.
var legalName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

var illegalID = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// maxID is the length up to which an id is passed on unchanged, in bytes.
const maxID = 256

// legalID converts an id to one that every style accepts. An illegal or overlong
// id becomes its hash, so that different ids stay different.
func legalID(id string) string {
	if len(id) <= maxID && !illegalID.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "id_" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// piece is what a delta adds.
type piece struct {
	begins    bool
	id, name  string
	arguments rawText
	late      bool // it belongs to a call before the last one
	nameless  bool // the next call starts, but the last one has no name
	refused   bool // the call's name is illegal, or there are too many calls
}

func (c *calls) add(delta callDelta) piece {
	id, name, arguments := toCallID(legalID(delta.ID)), delta.Function.Name, rawText(delta.Function.Arguments)
	if c.startsCall(delta.Index, id, name) {
		if c.lacksName() {
			return piece{nameless: true}
		}
		if c.seen[delta.Index] && delta.Index != c.index && id == "" && name == "" {
			return piece{late: true}
		}
		c.next(delta.Index)
		if c.begins == maxCalls {
			return piece{refused: true}
		}
	}
	if id != "" && c.id == "" {
		c.id, c.own = id, true
	}
	if c.name == "" {
		c.name = name
	}
	c.extent.add(string(arguments))
	if c.begun {
		return piece{arguments: arguments}
	}
	if len(c.arguments)+len(arguments) > maxArguments {
		return piece{nameless: true}
	}
	c.arguments = append(c.arguments, arguments...)
	if c.name == "" {
		return piece{} // the arguments are held until the name is known
	}
	return c.begin()
}

// startsCall reports whether a delta starts another call.
func (c *calls) startsCall(index count, id, name string) bool {
	switch {
	case c.seen == nil || index != c.index:
		return true
	case id != "" && c.own:
		return id != c.id
	case id != "" || name == "":
		return false
	}
	// A name again: repeated in each delta, or that of another call with index 0?
	return c.begun && c.extent.complete()
}

func (c *calls) next(index count) {
	if c.seen == nil {
		c.seen, c.ids = map[count]bool{}, map[string]bool{}
	}
	c.seen[index] = true
	c.index, c.id, c.own, c.name, c.begun, c.arguments = index, "", false, "", false, nil
	c.extent = jsonExtent{}
}

func (c *calls) begin() piece {
	if !legalName.MatchString(c.name) {
		return piece{refused: true}
	}
	if c.id == "" || c.ids[c.id] {
		c.id = rand.Text()
	}
	c.ids[c.id] = true
	c.begun = true
	c.begins++
	held := rawText(c.arguments)
	c.arguments = nil
	return piece{begins: true, id: c.id, name: c.name, arguments: held}
}

// lacksName reports whether the last call still lacks its name.
func (c *calls) lacksName() bool { return c.seen != nil && !c.begun }

// jsonExtent finds the end of a JSON value that comes in fragments. It scans each
// byte once, however small the fragments are.
type jsonExtent struct {
	depth   int // of objects and arrays
	begun   bool
	text    bool // inside a string
	escaped bool // after a backslash in it
}

func (e *jsonExtent) add(piece string) {
	for i := range len(piece) {
		e.next(piece[i])
	}
}

func (e *jsonExtent) next(b byte) {
	switch {
	case e.escaped:
		e.escaped = false
	case e.text:
		e.escaped = b == '\\'
		e.text = b != '"'
	case b == '"':
		e.begun, e.text = true, true
	case b == '{' || b == '[':
		e.begun = true
		e.depth++
	case b == '}' || b == ']':
		e.depth--
	case b != ' ' && b != '\t' && b != '\r' && b != '\n':
		e.begun = true
	}
}

// complete reports whether the value is complete. Of a number that is a guess:
// more digits may follow.
func (e *jsonExtent) complete() bool { return e.begun && !e.text && e.depth <= 0 }
