// Package runner keeps each loaded model in a process of its own, so that a
// crash of native code ends one model and never the server.
//
// There are three parts, and none of them knows what the engine inside is:
//
//   - The child calls [RunChild], which gives up what it does not need and
//     answers requests to any [engine.Engine] over a Unix socket.
//   - [Client] is the engine at the other end of that socket.
//   - [Engine] supervises: it starts a child for a model on its first
//     request, starts it again after a crash, ends one that hangs, and ends
//     all of them with itself.
//
// The parent makes the socket and hands it to the child already listening,
// so that nobody waits for a file to appear: a request that is sent while
// the child still loads its model waits in the socket's queue, and a child
// that dies resets it.
//
// # Crashes
//
// A crash ends all requests in the process, and each may be tried again: the
// next process starts at once. What follows depends on who is to blame.
//
//   - A request that ran alone in a process that ended by itself, or that we
//     ended because it stood still, is the cause. It is told not to try again,
//     and refused for a minute, twice as long the next time, up to an hour. It
//     is refused, not its client: nobody here knows clients apart.
//   - Of several requests, each is a suspect, also one whose client has just
//     left. A suspect that comes back runs alone until its answer begins, the
//     next time to its end: then it is the cause, or it is answered and
//     forgotten. So is one that ran alone in a process that was killed from
//     outside, which the system does when memory runs out. Others wait ten
//     seconds for one that waits to be alone, and then go before it for as
//     long; after a minute it is told to come again. Five minutes after it began
//     to run, it is alone no more.
//   - Where processes end often, three times in a minute, all requests that come
//     then run one after the other, first come, first served, until a minute is
//     over in which they did not. Who ends processes with ever
//     new requests then ends no answer but its own, and takes of the others'
//     time what one who asks for long answers would take: its turn.
//   - A pause before the next start is only for what asking again cannot mend:
//     processes that end while they load their model (up to 30 seconds), and
//     requests none of which is answered between crashes (up to 4 seconds).
//
// # The wire
//
// A connection carries one call at a time, and is used again for the next one.
// The client closes it to cancel. Calls are one gob stream: a process trusts the
// server.
//
// The server does not trust a process, which may be broken by the file that it
// serves: gob is not made for that. So messages come in frames of their own
// form, with their length in front. A frame is weighed before it is read, against
// one [Budget] of all processes, and no list is longer than its frame has room
// for. A process cuts what is larger than a frame, and sends prompts, vectors and
// pictures as bytes behind one. Then each message is checked: events by
// [engine.Sequence], all else in guard.go. What breaks the rules goes no further.
// It is a crash to the request, and the process is ended like one that hangs.
package runner
