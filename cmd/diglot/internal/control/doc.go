// Package control is how the command line and a running server speak: HTTP
// with JSON over a Unix socket, which only its owner may open.
//
// Who may connect may do everything, so there are no keys. The socket has what
// the public address lacks, which is the care of models that are loaded
// ([Client.Loaded], [Client.Load], [Client.Stop]), and beside it the whole
// public API ([Client.HTTP]), so that a chat in the terminal is a client like
// any other.
//
// A server holds a lock beside its socket for as long as it lives. So a socket
// whose server was killed is known to be dead, and replaced, without asking it.
package control
