// Package format knows what models write. An output [Format] is a table: the
// marks around reasoning and around tool calls, and how a call is spelled.
// A format is found by its name, or made of what a chat template shows of its
// markup (a [Syntax]).
//
// Two things read the same table. A [Reader] takes the output of a model token
// by token and makes events of it: text, reasoning and calls, with stop strings
// cut out and white space around markup taken off. What it says does not depend
// on where the tokens were cut. [Constrain] makes a grammar of the table and of
// the schemas of a request, so that a constrained model writes what a Reader
// understands.
//
// The package knows no model, no template and no token numbers.
package format
