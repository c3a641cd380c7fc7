package chat

import "github.com/diglot/diglot/engine/grammar"

// channelState is what the scanner knows of a harmony answer.
type channelState struct{}

func (c *channelState) open(string) {}

func (s *scanner) channelStart() bool { return false }

func (c *constraint) channels() grammar.Node { return nil }
