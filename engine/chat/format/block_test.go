package format

import "github.com/diglot/diglot/engine"

func text(s string) engine.Block      { return engine.Block{Kind: engine.BlockText, Text: s} }
func reasoning(s string) engine.Block { return engine.Block{Kind: engine.BlockReasoning, Text: s} }
func call(name, arguments string) engine.Block {
	return callID("id", name, arguments)
}
func callID(id, name, arguments string) engine.Block {
	return engine.Block{Kind: engine.BlockToolCall, CallID: id, Name: name, Arguments: arguments}
}
