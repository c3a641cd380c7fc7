// Package sandbox renders untrusted Jinja templates with the library
// ardanlabs/jinja. It rewrites the source first: Jinja's white space rules are
// applied, special tokens are replaced by placeholders, and each operation, filter
// and method that allocates is wrapped in a guard, which charges the Meter of the
// rendering beforehand.
package sandbox
