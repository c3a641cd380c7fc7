// Package value writes JSON values that follow a JSON Schema: deterministic, plain, and as
// a person would fill in a form.
//
// Two things lead the writer. The grammar of the schema (package grammar) says at each byte
// what may follow, so what it enforces holds by construction. The schema itself gives
// hints: its constants, examples and defaults, which types, in which order, how long. What
// no grammar can enforce, such as not, oneOf or uniqueItems, a JSON Schema validator judges
// afterwards: the first of several attempts that it accepts is the value.
//
// Everything is bounded: the steps of an attempt, the attempts, the depth, the bytes, and
// the work of the validator, which is counted before it is spent.
package value
