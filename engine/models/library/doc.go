// Package library is an engine over a model store and --model files. It loads
// models on demand and unloads them. A file is treated as a manifest in memory.
//
// A loaded model is a resident. There is one per manifest, even if several names
// refer to it, with four states:
//
//	loading -> ready -> leaving -> gone
//
// A resident is loaded by the first request for it, and shared. It leaves when it
// is idle for the keep-alive, evicted for another model, unloaded by a command, or
// when no name refers to its manifest any more. A leaving resident finishes its
// requests but accepts no new ones: these wait for a new resident. So no request
// fails because of another one.
//
// Admission (admission.go) is first come, first served. Memory is planned before a
// model is loaded, and reserved until it is gone. A resident in use can be evicted
// only after it was ready for as long as its load took, at most a minute, so that
// the server does not spend all its time on loading. A model that would not fit
// even alone is refused with the numbers.
//
// [Config.Start] makes the [Instance] of a model, such as a runner process.
package library
