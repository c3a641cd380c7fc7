// Package chat makes an [engine.Engine] of any raw [Model], which counts and
// continues tokens and knows neither messages nor tools. A request becomes a
// plan: it is checked, rendered with the model's own template (package template),
// constrained where tools or a format ask for it (packages format and grammar),
// and made into tokens. What the model then writes is read back into events
// (package format). Several answers of one request run side by side.
package chat
