// Package runner keeps each loaded model in a process of its own, so that a
// crash of native code ends one model and never the server.
//
// There are three parts, and none of them knows what the engine inside is:
//
//   - The child calls [Listener] and [Serve], which answer requests to any
//     [engine.Engine] over a Unix socket.
//   - [Client] is the engine at the other end of that socket.
//   - [Engine] supervises: it starts a child for a model on its first
//     request, starts it again after a crash, ends one that hangs, and ends
//     all of them with itself.
//
// The parent makes the socket and hands it to the child already listening,
// so that nobody waits for a file to appear: a request that is sent while
// the child still loads its model waits in the socket's queue, and a child
// that dies resets it.
//
// On the wire, each direction is one gob stream per connection. A connection
// carries one request at a time, and is used again for the next one. The
// client closes it to cancel.
package runner
