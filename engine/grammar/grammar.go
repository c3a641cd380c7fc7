// Package grammar says what text a model may write, and checks text against
// it as it grows.
package grammar

// Matcher follows one text through a grammar.
type Matcher struct{}
