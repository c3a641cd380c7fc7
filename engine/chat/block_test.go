package chat

import "github.com/diglot/diglot/engine"

func text(s string) engine.Block      { return engine.Block{Kind: engine.BlockText, Text: s} }
func reasoning(s string) engine.Block { return engine.Block{Kind: engine.BlockReasoning, Text: s} }
func callID(id, name, arguments string) engine.Block {
	return engine.Block{Kind: engine.BlockToolCall, CallID: id, Name: name, Arguments: arguments}
}
