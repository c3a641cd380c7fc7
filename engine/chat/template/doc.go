// Package template renders requests with a model's chat template, Jinja or Go. A
// template is probed when loaded: it renders made-up conversations, which show
// what it supports and how the model writes reasoning and tool calls
// ([Capabilities]). What it would silently omit is moved to where it is shown;
// what it rejects is repaired, or reported to the client.
//
// Neither templates, which come with models, nor requests are trusted. Time,
// memory, depth and output are limited. No text of a client becomes a special
// token: those of a prompt come from the template's source alone.
package template
