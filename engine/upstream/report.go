package upstream

import (
	"fmt"

	"github.com/diglot/diglot/engine"
)

// Errors decides what the failures of a server mean to whoever asks. The
// default is for a server that its clients know nothing of: what it says of
// itself is for the log.
type Errors interface {
	// Refused is the error for one that the server tells.
	Refused(Report) *engine.Error

	// Lost is the error of a server that cannot be reached, or that breaks off.
	Lost() *engine.Error
}

// Report is an error in the words of the server.
type Report struct {
	Status  int    // of HTTP; 0: it came within a reply
	Code    string // a word; empty: none
	Message string // empty: the server tells none that can be read
}

// Own is the [Errors] of a server that runs this very program, for the user of
// that server: its words are meant for them.
type Own struct {
	Ended string // the sentence for a server that is gone: how to start it

	// Code is the code behind a status, if there is one, and a word in the body.
	Code func(status int, word string) engine.Code
}

// Refused implements [Errors].
func (o Own) Refused(r Report) *engine.Error {
	message := r.Message
	if message == "" {
		message = fmt.Sprintf("The diglot server answers with status %d, and does not say why.", r.Status)
	}
	return &engine.Error{Code: o.Code(r.Status, r.Code), Message: message} // whole: the server has cut what is too long
}

// Lost implements [Errors].
func (o Own) Lost() *engine.Error {
	return &engine.Error{Code: engine.CodeEngineCrashed, Message: o.Ended}
}
