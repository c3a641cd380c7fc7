// Package engine holds the types that both API styles map to: requests
// ([Request]), reply events ([Event]), errors ([Error]), and the interface
// that serves them ([Engine]).
//
// Nothing here knows a wire format. Each style maps its wire types to a
// Request and encodes Events; no request is converted through the other style.
// Events carry more structure than any style needs: dropping structure takes
// one line, reconstructing it would be guesswork.
//
// One reply is one sequence of events:
//
//	Start (Block* Finish)+ Done        per choice: Blocks, then Finish
//	Block = BlockStart Delta* BlockStop
//
// Events of several choices may interleave; within one choice, blocks never
// overlap and their indexes count up from 0. An error is the last pair of its
// sequence; before Start it means that nothing was generated, so a handler may
// still choose the HTTP status. [Collect] folds a sequence into a [Response],
// so that a reply that is not streamed takes no second code path. [Sequence]
// validates one.
package engine
