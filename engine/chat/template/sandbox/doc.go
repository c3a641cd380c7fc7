// Package sandbox runs Jinja templates that nobody trusts. The language is that of
// a library; a template's source is rewritten before the library sees it: Jinja's
// rules for white space are applied, control tokens are replaced by the runes that
// stand for them, and around each operation, filter and method that makes
// something stands a call of ours, which counts what is made on the rendering's
// Meter before it is made.
package sandbox
