// Package rules tests the rules of the whole repository: allowed imports
// (border_test.go) and file hygiene (hygiene_test.go).
package rules
