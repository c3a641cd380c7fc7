package sandbox

// guards is the prefix of the guards' names. The source itself does not contain it.
type guards string

func (g guards) name(function string) string { return string(g) + function }

// The functions that a rewritten source calls.
const (
	guardStep      = "step"     // at the start of a loop body; with the depth if it is recursive
	guardEnter     = "enter"    // at the start of the body of a macro or call block
	guardLeave     = "leave"    // at its end
	guardOutput    = "output"   // around what is printed or converted to a string
	guardIterated  = "iterated" // around what a loop iterates over
	guardOperation = "operate"  // in place of a binary operation
	guardCompared  = "compared" // around operands of a comparison
	guardTested    = "tested"   // around operands of a test
	guardItem      = "item"     // around an indexed value
	guardSliced    = "sliced"   // around a sliced value
	guardOwner     = "owner"    // around the receiver of a method
	guardMethod    = "method"   // around the method
	guardCallee    = "callee"   // around a called value
	guardInside    = "inside"   // around conditions and defaults that may recurse, with a call of enter
	guardFilter    = "filter_"  // prefix of filters
)

// maxBlocks limits the nesting of statements, on which the library recurses.
const maxBlocks = 200

// filterBody is the library's name for the body of a filter block.
const filterBody = "__filter_body"

// hiddenFilter is the prefix of the library's variables for filters. A template
// that reads them would bypass the guards.
const hiddenFilter = "__filter_"
