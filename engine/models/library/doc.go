// Package library is an engine over a model store, and over files beside it: what
// they have can be asked for, and is loaded when it is. A file is a manifest in
// memory, and lives as one of the store does.
//
// A model in memory is a resident. There is one for each manifest, whatever
// names lead to it, and it goes through four states:
//
//	loading -> ready -> leaving -> gone
//
// A resident is loaded for the first request that names it and shared by all
// that follow. It leaves when nobody has used it for a while, when another
// model needs its memory, when it is told to, or when no name leads to its
// manifest any more. A resident that leaves takes no new requests, but those
// that it has are answered: a request never fails because of another one. A
// request for a model that is leaving waits for a resident of its own.
//
// Memory is given out in turn (room.go): whose load waits for memory is not
// overtaken by the next. One that is in use makes way for it once it was there
// for as long as its own load took, or for a minute, so that not all of the time
// goes into loading. What a model needs is planned before it is loaded and
// counted until it is gone. A model that could not be loaded with nothing beside
// it is refused with the numbers.
//
// What computes is not known here: an [Instance] is made by [Config.Start].
package library
