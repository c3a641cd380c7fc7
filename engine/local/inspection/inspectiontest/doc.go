// Package inspectiontest makes small whole models for tests, of every
// architecture that can be run: random weights, and a vocabulary of some
// hundred tokens.
package inspectiontest
