// Package runner runs each loaded model in a process of its own, so that a crash
// in native code ends one model and never the server.
//
// It has three parts, which work with any engine:
//
//   - [RunChild] confines the child process and serves an [engine.Engine] over a
//     Unix socket.
//   - [Client] is the engine at the other end of that socket.
//   - [Engine] supervises: it starts a child on the first request for a model,
//     restarts it after a crash, kills one that hangs, and stops all of them when
//     it is closed.
//
// The parent creates the listening socket and the child inherits it, so nobody
// waits for a socket file: a request that is sent while the child loads its model
// waits in the accept queue, and is reset if the child dies.
//
// # Crashes
//
// A crash fails all requests in the process, which clients may retry: the next
// process starts at once. Otherwise it depends on which request is the cause.
//
//   - A request that ran alone in a process that crashed, or that we killed
//     because it hung, is the cause. Its client is told not to retry, and the same
//     request is refused for a minute, doubling up to an hour. Requests are
//     refused, not clients, which this package cannot tell apart.
//   - Of concurrent requests, each is a suspect, also a recently canceled one. On
//     retry, a suspect runs alone until its first output, and the next time to its
//     end: then it either is the cause or is cleared. The same holds for a request
//     that ran alone in a process that was killed from outside, as by the OOM
//     killer. Other requests wait ten seconds for a suspect that waits to run
//     alone, then go first for as long; after a minute the suspect is told to
//     retry. It runs alone for five minutes at most.
//   - In a crash loop, three crashes in a minute, requests run one at a time, first
//     come first served, until there was none for a minute. A client that causes
//     crashes with ever new requests then fails only its own, and takes no more
//     time from others than long answers would.
//   - Restarts are delayed only where a retry cannot help: after repeated crashes
//     during loading (up to 30 seconds), or without any completed request in
//     between (up to 4 seconds).
//
// # The wire
//
// A connection carries one call at a time and is reused. The client closes it to
// cancel. Calls are a gob stream, as the process trusts the server.
//
// The server does not trust the process, which a hostile model file may have taken
// over, and gob is not made for hostile input. So messages are length-prefixed
// frames. The memory for a frame is reserved from one [Budget] of all processes
// before it is read, and no list is longer than its frame can hold. The process
// splits larger messages, and sends prompts, vectors and images as bytes after a
// frame. Each message is validated: events by [engine.Sequence], others in
// guard.go. An invalid one is a crash to the request, and the process is killed
// like one that hangs.
package runner
