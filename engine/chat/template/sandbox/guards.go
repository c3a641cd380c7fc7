package sandbox

// guards begins the names of the functions that a rewritten source calls. The
// source itself must not have it.
type guards string

func (g guards) name(function string) string { return string(g) + function }

// The functions that a rewritten source calls.
const (
	guardStep      = "step"     // where the body of a loop begins; in one that calls itself, with its depth
	guardEnter     = "enter"    // where the body of a macro or a call begins
	guardLeave     = "leave"    // and ends
	guardOutput    = "output"   // around what is printed, or becomes a text
	guardIterated  = "iterated" // around what a loop goes through
	guardOperation = "operate"  // in place of an operation between two values
	guardCompared  = "compared" // around the operands of a comparison
	guardTested    = "tested"   // around those of a test
	guardItem      = "item"     // around what an item is taken of
	guardSliced    = "sliced"   // around what a slice is taken of
	guardOwner     = "owner"    // around what a method is of
	guardMethod    = "method"   // around the method
	guardCallee    = "callee"   // around what is called
	guardInside    = "inside"   // around what may lead to itself before a body begins, with a call of enter
	guardFilter    = "filter_"  // before the names of filters
)

// maxBlocks bounds how deep statements may be inside each other: the library
// goes as deep.
const maxBlocks = 200

// filterBody is the name by which the library knows the body of a filter
// block.
const filterBody = "__filter_body"

// hiddenFilter begins the names by which the library finds its filters. As
// names of variables they would lead to them past those that count.
const hiddenFilter = "__filter_"
