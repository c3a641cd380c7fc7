// Package imagegen is an [engine.Engine] over any image model, as package chat
// is one over any language model. A [Model] only returns pixels; sizes, encoding
// and refusals are handled here for all models.
//
// So far the only image model is the test card of package script.
package imagegen
