// Package imagegen is an [engine.Engine] over any raw model that draws, as
// package chat is one over any raw model that writes. A [Model] knows pixels
// and nothing else; sizes that it cannot draw, files and what it cannot do at
// all are dealt with here, once for all models.
//
// So far the only model that draws is the test card of a script.
package imagegen
