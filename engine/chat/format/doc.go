// Package format describes the output formats of models. A [Format] is a table of
// reasoning delimiters, tool call delimiters and the syntax of a call. It is
// found by name or derived from the chat template's markup (a [Syntax]).
//
// Two things use the table. A [Parser] parses the output of a model, token by
// token, into events: text, reasoning and tool calls, without stop strings and
// the white space around markup. Its events do not depend on token boundaries.
// [Constrain] turns the table and the schemas of a request into a grammar, so
// that a constrained model writes what a Parser accepts.
//
// The package knows no model, no template and no token ids.
package format
