// Package terminal is the input and output of commands: tables, progress bars, a
// line editor, and hidden input.
//
// The line editor works with columns and grapheme clusters, for any script:
// cluster.go splits text, line.go edits, painter.go draws, keys.go reads keys and
// editor.go combines them.
//
// Output that is not a terminal, which [Is] reports, gets plain lines: for example
// one per tenth in place of a progress bar. terminal/conversation, the chat of
// diglot run, is built on this package.
package terminal
