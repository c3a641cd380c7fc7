// Package enginetest is the suite that every [engine.Engine] passes, and the
// checker of event sequences that it is built on.
package enginetest
