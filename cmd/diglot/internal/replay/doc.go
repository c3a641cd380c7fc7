// Package replay is a server without a model: recorded exchanges where a request is one of
// them, replies made from the request (package engine/mock) where not, and faults that a
// client asks for.
//
// All of it is inside the ordinary handlers, so that validation, marks, profiles, headers
// and errors are the server's own. What is recorded is sent with new ids and the time of
// now: two replies of one recording differ in them, and each agrees with itself. An id says
// which one of the recording it stands for, so that a client may send it back, to any
// replay, at any time.
//
// A fault of package fault is either in the engine, where each style tells it in its own
// way, or in the bytes of the reply, recorded or not.
package replay
