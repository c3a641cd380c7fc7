// Package control is the protocol between commands and a running server: JSON
// over HTTP on a Unix socket that only its owner may open.
//
// Whoever may connect may do everything, so there are no keys. The socket has
// commands for loaded models ([Client.Loaded], [Client.Load], [Client.Stop]), and
// the whole public API ([Client.HTTP]), so that a chat in the terminal is a
// client like any other.
//
// A server holds a lock next to its socket while it runs. A socket without a
// holder of its lock is stale, and is replaced.
package control
