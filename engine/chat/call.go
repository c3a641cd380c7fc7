package chat

import "github.com/diglot/diglot/engine/chat/grammar"

// callReader reads one kind of call.
type callReader interface {
	// head reads up to the arguments; b begins behind the opening mark. It
	// says no for anything but a call of one of the tools.
	head(b []byte, tools toolSet) (head, verdict)

	// grammar is a whole call as the model should write it.
	grammar(t *tool) grammar.Node
}

// callBody reads the arguments of one call.
type callBody interface {
	// read gives out what b adds to the arguments. It returns how many bytes it
	// used up and whether the arguments are complete. With final set nothing
	// more comes.
	read(b []byte, final bool, out *writer) (n int, complete bool)
}

// head is what stands before the arguments of a call.
type head struct {
	id   string // where the model wrote one
	name string
	size int      // bytes used up
	body callBody // reads what follows
}
