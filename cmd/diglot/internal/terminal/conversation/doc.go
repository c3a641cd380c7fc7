// Package conversation is the chat of diglot run: a person asks in a
// terminal, or a program through a pipe, and a model answers.
//
//	conversation.go  what is remembered, and one question with its answer
//	printer.go       how an answer looks, on a terminal and in a pipe
//	images.go        pictures whose paths stand in a message
//	settings.go      what /set can change
//	commands.go      the lines that begin with a slash; set.go and show.go hold two
//	loop.go          reading messages until the person leaves
//
// It knows an [engine.Engine], not where that is: in this process, or behind
// the socket of a server.
package conversation
