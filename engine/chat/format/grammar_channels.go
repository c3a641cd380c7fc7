package format

import (
	"maps"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/chat/grammar"
)

// harmonyContent is the content of a message that is not a call. It contains no
// token that ends or begins a message.
var harmonyContent = grammar.Until(harmonyEnd, harmonyCall, harmonyReturn, harmonyStart, harmonyChannel)

// channels is the grammar of a whole answer: analysis and commentary messages,
// then the final message or a call.
func (c *constraint) channels() grammar.Node {
	var ends []grammar.Node
	if len(c.tools) > 0 {
		ends = append(ends, c.channelCalls())
	}
	if !c.required {
		ends = append(ends, c.channelFinal())
	}
	next := grammar.Literal(harmonyEnd + harmonyStart + "assistant")
	aside := func(channel string) grammar.Node {
		return grammar.Seq(grammar.Literal(harmonyChannel+channel+harmonyMessage), harmonyContent, next)
	}
	asides := grammar.Repeat(grammar.Choice(aside("analysis"), aside("commentary")), 0, -1)
	answer := grammar.Seq(asides, grammar.Choice(ends...))
	header, content, open := strings.Cut(c.opening[max(0, strings.LastIndex(c.opening, harmonyStart)):], harmonyMessage)
	if !open || strings.Contains(content, harmonyEnd) {
		return answer
	}
	if readHarmonyHeader([]byte(header)).channel != "final" {
		return grammar.Seq(harmonyContent, next, answer)
	}
	if c.reply != nil {
		return c.reply
	}
	return grammar.Seq(harmonyContent, grammar.Optional(grammar.Literal(harmonyReturn)))
}

// channelFinal is the final message.
func (c *constraint) channelFinal() grammar.Node {
	start, end := harmonyChannel+"final", grammar.Optional(grammar.Literal(harmonyReturn))
	if c.reply != nil {
		return grammar.Seq(grammar.Literal(start),
			grammar.Optional(grammar.Literal(" "+harmonyConstrain+"json")),
			grammar.Literal(harmonyMessage), c.reply, end)
	}
	return grammar.Seq(grammar.Literal(start+harmonyMessage), harmonyContent, end)
}

// channelCalls is one call: harmony has no parallel calls.
func (c *constraint) channelCalls() grammar.Node {
	var each []grammar.Node
	for _, name := range slices.Sorted(maps.Keys(c.tools)) {
		to := " to=" + harmonyFunctions + name
		each = append(each, grammar.Seq(
			grammar.Choice(
				grammar.Literal(to+harmonyChannel+"commentary"),
				grammar.Literal(harmonyChannel+"commentary"+to)),
			grammar.Optional(grammar.Choice(grammar.Literal(" "+harmonyConstrain+"json"), grammar.Literal(" json"))),
			grammar.Literal(harmonyMessage), c.tools[name].grammar))
	}
	return grammar.Seq(grammar.Choice(each...), grammar.Optional(grammar.Literal(harmonyCall)))
}
