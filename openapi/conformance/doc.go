// Package conformance checks any server against the documents, from outside.
//
// A [Scenario] is one promise of a server and how to test it. [Run] runs scenarios against a
// [Target] and returns a [Report]. [Target.Generated] makes those that follow from the
// documents alone: every field of a request is accepted or refused as its support mark says
// (from [Cases], which makes the odd values), and every reply, whichever scenario asked for
// it, is held against its schema, headers, errors and order of events. The packages scenario
// (behavior), structure (schemas and tools), media (pictures and vectors) and protocol (HTTP)
// have those that are written by hand.
//
// A new field is tested before anybody writes a test.
package conformance
