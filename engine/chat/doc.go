// Package chat implements [engine.Engine] over any [Model] that counts and
// continues tokens and knows neither messages nor tools. A request is checked,
// rendered with the model's chat template (package template), constrained by a
// grammar if it has tools or a format (packages format and grammar), and
// tokenized. The output is parsed into events (package format). The choices of a
// request are generated concurrently.
package chat
