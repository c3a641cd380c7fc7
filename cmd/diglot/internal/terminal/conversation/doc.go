// Package conversation is the chat of diglot run, in a terminal or through pipes.
//
//	conversation.go  turns, and one question with its answer
//	printer.go       output of an answer, to a terminal or a pipe
//	images.go        images whose paths are in a message
//	settings.go      what /set can change
//	commands.go      slash commands; two are in set.go and show.go
//	loop.go          reading messages until the user exits
//
// The [engine.Engine] may be in this process or behind a server's socket.
package conversation
