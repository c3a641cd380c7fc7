// Package grammar says what text a model may write, and follows text through
// what was said, one piece at a time, as a model produces it.
//
// An expression is a tree of [Node]s: literals, sequences, choices,
// repetitions, free text up to a marker, regular expressions, and JSON that
// follows a schema. [Compile] turns it into a [Grammar], which is immutable
// and shared by all requests; a [Matcher] is the place of one text in it.
//
//	call, issues, err := grammar.Schema(tool.Parameters)
//	root := grammar.Seq(
//		grammar.Until("<tool_call>"),
//		grammar.Literal("<tool_call>\n"), call, grammar.Literal("\n</tool_call>"))
//
// That a constraint begins late ("free text, then perhaps a call") needs no
// mode: it is an ordinary expression.
//
// # How it works
//
// A grammar is a program for a pushdown automaton over bytes. A place in a
// text is a set of threads, each a position in the program and a stack; a
// frame of the stack is a position to return to, or the count of a bounded
// repetition, so that "at most 100000 characters" costs one instruction.
// Stacks share their lower parts and equal frames are one frame, so threads
// can be compared and counted once. Every set of threads that a matcher
// meets is remembered together with where each byte leads from it: text
// that stays in a loop, as the inside of a string does, costs one table
// look-up for each byte.
//
// Bytes, not characters, are the unit because tokens end anywhere, also
// inside a character. Only valid UTF-8 is ever allowed.
//
// # What it costs
//
// Expressions come from clients. Reading a schema and compiling count steps
// and bytes before they spend them, on the [Budget] that the context carries:
// one for all that a request sends. After each thousand steps or 128 KB they
// look at the budget and at the context, so nothing goes on for somebody who
// has left. Many requests at once pass a [Gate] one by one, once they do more
// than a little. A matcher counts its work too, and gives up where a text has
// too many ways to be read ([ErrTooMuchWork]).
//
// No thread is a dead end: alternatives that no finite text can satisfy are
// removed by Compile. From every place that Accept reaches the text can be
// completed.
package grammar
