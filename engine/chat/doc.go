// Package chat makes an [engine.Engine] of any raw [Model]: it renders
// messages with the model's own template, constrains the output where tools
// or a format ask for it, and reads the output back into events.
package chat
