// Package template makes prompts of requests with a model's own chat template,
// in Jinja or as a Go template. When a template is loaded it is probed: made-up
// conversations are rendered to learn what it can show and how its model writes
// reasoning and calls ([Capabilities]). What it would leave out silently is put
// where it is seen; what it refuses is repaired, or told to the client.
//
// Templates come out of model files, and requests from clients: neither is
// trusted. Loops, time, depth, memory and output are bounded, and counted before
// they are spent. No text of a client becomes a control token, whatever it is:
// the control tokens of a prompt are those that the template's own source has.
package template
