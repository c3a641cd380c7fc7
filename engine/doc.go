// Package engine holds the neutral words that both API styles meet: what a
// client asks for ([Request]), what a model answers ([Event]), what can go
// wrong ([Error]), and who answers ([Engine]).
//
// Nothing here knows a wire format. A style maps its own types to a Request
// and encodes Events, and no request passes through another style on its
// way. Events carry more structure than any style needs: a flat style drops
// structure in one line, and no style has to guess it back.
//
// One reply is one sequence of events:
//
//	Start (Block* Finish)+ Done        per choice: Blocks, then Finish
//	Block = BlockStart Delta* BlockStop
//
// Events of several choices may interleave; within one choice, blocks never
// overlap and their indexes rise from 0 without gaps. An error is the last
// pair of its sequence; one that comes before Start means that nothing was
// generated, so a handler may still choose the HTTP status.
// [Collect] folds a sequence into a [Response]: a reply that is not streamed
// is the same sequence folded, never a second code path. [Sequence] checks one.
package engine
