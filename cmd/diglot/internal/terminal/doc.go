// Package terminal is what commands show to a person, and read from one:
// tables, progress, lines that can be edited, and secrets that are not
// shown.
//
// Lines are edited by columns and by what a person takes for one character, in
// any script: cluster.go says what that is, line.go edits, painter.go shows,
// keys.go reads and editor.go brings them together.
//
// Each part has a form for a terminal and one for a pipe, a file or a log: a
// bar that moves, or a line for every tenth. [Is] tells which. Nothing here
// knows what it shows; terminal/conversation, the chat of diglot run, is
// built on it.
package terminal
