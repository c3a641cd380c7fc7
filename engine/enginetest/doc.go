// Package enginetest is the conformance suite of [engine.Engine], with the
// validator of event sequences that it uses.
package enginetest
