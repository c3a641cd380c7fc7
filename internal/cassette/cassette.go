// Package cassette is about recorded HTTP exchanges: a [Cassette] is the
// exchanges of one case in one file, in the YAML format of go-vcr v3.
//
// A recording is made to be read, committed and compared. So what is secret is
// removed from it ([Scrub]), ids and times are replaced by numbers in order of
// appearance ([Normaliser]), and JSON bodies are indented. Requests match as
// values ([Key]): neither the order of fields nor that of a query counts.
//
//	cassettes, err := cassette.Read("testdata/cassettes")
//	for _, c := range cassettes {
//		for _, i := range c.Interactions {
//			replies[cassette.Key(i.Request)] = i.Response
//		}
//	}
package cassette

import "net/http"

// Cassette is the exchanges of one case, in order of their requests.
type Cassette struct {
	Name         string // path of the file below its folder, without ".yaml"
	Interactions []Interaction
}

// Interaction is one request and its reply.
type Interaction struct {
	Request  Request
	Response Response
}

// Request is a request as it was sent, without what scrubbing removed.
type Request struct {
	Method  string
	URL     string // path and query, with their escapes
	Headers http.Header
	Body    string
}

// Response is a whole reply: of a stream, all of its frames.
type Response struct {
	Code    int
	Headers http.Header
	Body    string
	// Aborted: the server broke off the reply after Body.
	Aborted bool
}
