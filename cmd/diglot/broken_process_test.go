package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
)

// broken is an engine that says what its request names, and none may say.
type broken struct{ engine.Engine }

func (broken) Models(context.Context) ([]engine.Model, error) {
	return []engine.Model{{Name: "m"}}, nil
}

func (broken) Generate(_ context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	said, _, _ := strings.Cut(req.Messages[0].Parts[0].(engine.Text).Text, "|")
	return func(yield func(engine.Event, error) bool) {
		events, is := nonsense[said]
		if !is && said != "fail" {
			events = answer(engine.TextDelta{Text: "hello"}, engine.BlockStop{}, engine.Finish{Reason: engine.FinishEndOfTurn}, engine.Done{})
		}
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		if said == "fail" {
			yield(nil, engine.Errorf(engine.CodeUnauthenticated, "fail"))
		}
	}
}

// answer is a reply that begins as it should.
func answer(rest ...engine.Event) []engine.Event {
	return append([]engine.Event{engine.Start{}, engine.BlockStart{Kind: engine.BlockText}}, rest...)
}

// nonsense are replies that break off in the middle of the grammar.
var nonsense = map[string][]engine.Event{
	"a choice beyond all":  {engine.Start{}, engine.Finish{Choice: 1 << 33}},
	"a choice before all":  answer(engine.TextDelta{Choice: -1, Text: "x"}),
	"text without a block": {engine.Start{}, engine.TextDelta{Text: "x"}},
	"no end":               answer(engine.TextDelta{Text: "x"}),
	"no start":             {engine.Done{}},
	"an end after the end": answer(engine.TextDelta{Text: "x"}, engine.BlockStop{}, engine.Finish{Reason: engine.FinishEndOfTurn}, engine.Done{}, engine.Done{}),
	"an unknown reason":    answer(engine.TextDelta{Text: "x"}, engine.BlockStop{}, engine.Finish{Reason: "weird"}, engine.Done{}),
	"usage below nothing":  answer(engine.BlockStop{}, engine.Finish{Reason: engine.FinishEndOfTurn}, engine.Done{Usage: engine.Usage{PromptTokens: -3}}),
	"a call of no tool":    {engine.Start{}, engine.BlockStart{Kind: engine.BlockToolCall, CallID: "a b", Name: "x y\n\"<"}},
	"a header in a name":   {engine.Start{Ignored: []string{"a\r\nSet-Cookie: x=1"}}},
	"fail":                 nil,
}

// TestBrokenProcess: what a process says that none may say is the error of a
// crash to its client, in both styles, streamed or not, and the next request
// is answered.
func TestBrokenProcess(t *testing.T) {
	url := serveEngine(t, openChild(t, os.Args[0], "broken"))
	for _, style := range styles {
		for _, stream := range []string{"true", "false"} {
			format := strings.Replace(style.body, `"stream": true`, `"stream": `+stream, 1)
			for said := range nonsense {
				reply := post(t, url+style.path, fmt.Sprintf(format, said+"|"+style.name+stream)) // else it is the same request, and refused
				body, err := io.ReadAll(reply.Body)
				streamed := reply.StatusCode == http.StatusOK && strings.Contains(string(body), style.crash) && stream == "true"
				if err != nil || reply.StatusCode != http.StatusBadGateway && !streamed || strings.Contains(string(body), style.end) || reply.Header.Get("Set-Cookie") != "" {
					t.Errorf("%s, stream %s, %s: status %d, error %v:\n%s", style.name, stream, said, reply.StatusCode, err, body)
				}
				fine := post(t, url+style.path, fmt.Sprintf(format, "fine"))
				if body, err := io.ReadAll(fine.Body); err != nil || fine.StatusCode != http.StatusOK || !strings.Contains(string(body), "hello") {
					t.Errorf("%s, stream %s, behind %s: status %d, error %v:\n%s", style.name, stream, said, fine.StatusCode, err, body)
				}
			}
		}
	}
}
