package upstream

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
)

// calls puts the pieces of tool calls in order. By the style, the first piece
// of a call has its index, id and name, and the others its index. Servers also
// send a call at once, leave out ids, count every call as 0, repeat the name in
// each piece, or send the name after the id.
type calls struct {
	begins    int   // of calls
	index     count // of the last call, as the server counts
	id        string
	own       bool // the server gave the id
	name      string
	begun     bool   // of the last call
	arguments []byte // of the last call, until it begins
	extent    extent // of the same, so far
	seen      map[count]bool
	ids       map[string]bool
}

// maxArguments is how much of a call's arguments may come before its name, in
// bytes.
const maxArguments = 1 << 20

// maxCalls is the most calls of one answer.
const maxCalls = 4096

// legalName is what every style allows as the name of a tool.
var legalName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

var illegalID = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// maxID is the longest id that goes on as it is, in bytes.
const maxID = 256

// legalID makes of an id what every style allows as one. Different ids stay
// different: what is changed, or too long, bears its hash.
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
	late      bool // it belongs to a call that is over
	nameless  bool // another call begins, and the last one had no name
	refused   bool // it begins a call that no style can tell: by its name, its id or its number
}

func (c *calls) add(delta callDelta) piece {
	id, name, arguments := toCallID(legalID(delta.ID)), delta.Function.Name, rawText(delta.Function.Arguments)
	if c.another(delta.Index, id, name) {
		if c.pending() {
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
		return piece{} // what came of the arguments is told when the name is known
	}
	return c.begin()
}

// another reports whether a piece belongs to another call than the last one.
func (c *calls) another(index count, id, name string) bool {
	switch {
	case c.seen == nil || index != c.index:
		return true
	case id != "" && c.own:
		return id != c.id
	case id != "" || name == "":
		return false
	}
	// The name again: of each piece, or of another call that is counted as 0 too?
	return c.begun && c.extent.whole()
}

func (c *calls) next(index count) {
	if c.seen == nil {
		c.seen, c.ids = map[count]bool{}, map[string]bool{}
	}
	c.seen[index] = true
	c.index, c.id, c.own, c.name, c.begun, c.arguments = index, "", false, "", false, nil
	c.extent = extent{}
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

// pending reports whether a call is still without a name.
func (c *calls) pending() bool { return c.seen != nil && !c.begun }

// extent follows a value of JSON that comes in pieces, and knows when it has
// ended. Each byte is looked at once, however small the pieces are.
type extent struct {
	depth   int // of objects and lists
	begun   bool
	text    bool // a string is open
	escaped bool // what comes next in it stands for itself
}

func (e *extent) add(piece string) {
	for i := range len(piece) {
		e.take(piece[i])
	}
}

func (e *extent) take(b byte) {
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

// whole reports whether the value has ended, as far as that can be told: more digits
// may follow those of a number.
func (e *extent) whole() bool { return e.begun && !e.text && e.depth <= 0 }
