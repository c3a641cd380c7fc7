// Package rules holds the tests of rules that the whole repository keeps:
// who may import whom (border_test.go) and how files look (hygiene_test.go).
// A rule that is only written down rots; these fail.
package rules
