// Package grammar constrains what a model may generate, and matches its output
// incrementally.
//
// An expression is a tree of [Node]s: literals, sequences, choices, repetitions, free
// text up to a marker, regular expressions, and JSON that follows a schema. [Compile]
// turns it into a [Grammar], which is immutable and shared; a [Matcher] is the state of
// one text.
//
//	call, issues, err := grammar.Schema(tool.Parameters)
//	root := grammar.Seq(
//		grammar.Until("<tool_call>"),
//		grammar.Literal("<tool_call>\n"), call, grammar.Literal("\n</tool_call>"))
//
// A lazy constraint ("free text, then perhaps a call") is an ordinary expression, as
// above.
//
// # How it works
//
// A grammar is a program for a pushdown automaton over bytes. The state of a matcher is
// a set of threads, each a program counter and a stack. A stack frame is a return
// address, or the counter of a bounded repetition, so that "at most 100000 characters"
// costs one instruction. Stacks share tails and equal frames are one frame, so equal
// threads are one. States and their transitions are cached like those of a lazy DFA: in
// a loop, as inside a string, a byte costs one table lookup.
//
// The alphabet is bytes because tokens may end within a character. Only valid UTF-8 is
// allowed.
//
// # What it costs
//
// Expressions come from clients. Reading a schema and compiling count steps and bytes
// before spending them, on the [Budget] in the context, one per request. Every thousand
// steps or 128 KB they check the budget and the context. Requests that need more than a
// little pass a [Gate] one at a time. A matcher limits its work too, and gives up on a
// text that is too ambiguous ([ErrTooMuchWork]).
//
// No thread is a dead end: Compile removes alternatives that no finite text satisfies,
// so any accepted text can be completed.
package grammar
