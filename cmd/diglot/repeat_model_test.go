//go:build llamacpp && cgo

package main

import (
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/handlers/handlerstest"
)

// TestSameAgain holds what makes answers repeat: the likeliest tokens are the
// same streamed and whole, in every style, and so are four answers from one
// seed, which differ among each other.
func TestSameAgain(t *testing.T) {
	s := start(t, "--model", "m="+smallestModel(t), "--context", "512", "--parallel", "4")
	for _, g := range handlerstest.Generations() {
		t.Run(g.Name+"/temperature 0", func(t *testing.T) {
			ask := handlerstest.Ask{Text: "Tell me about the sea.", More: map[string]any{"temperature": 0, g.Limit: 24}}
			sameAgain(t, s.url, g, ask)
		})
		if !g.Choices {
			continue
		}
		t.Run(g.Name+"/seed", func(t *testing.T) {
			ask := handlerstest.Ask{Text: "Tell me about the sea.", Choices: 4, More: map[string]any{"temperature": 1, "seed": 7, g.Limit: 24}}
			four := sameAgain(t, s.url, g, ask)
			texts := map[string]bool{}
			for _, a := range four {
				texts[a.Text()] = true
			}
			if len(four) != 4 || len(texts) != 4 {
				t.Errorf("%d answers, %d of them different", len(four), len(texts))
			}
			ask.More["seed"] = 8
			if other := said(t, s.url, g, ask); cmp.Equal(four, other) {
				t.Error("another seed gives the same answers")
			}
		})
	}
}

// sameAgain asks twice for a whole reply and twice for a stream, and returns
// what all of them should say.
func sameAgain(t *testing.T, url string, g handlerstest.Generation, ask handlerstest.Ask) []handlerstest.Answer {
	t.Helper()
	first := said(t, url, g, ask)
	if first[0].Text() == "" {
		t.Error("the answer is empty")
	}
	for _, stream := range []bool{true, false, true} {
		ask.Stream = stream
		if diff := cmp.Diff(first, said(t, url, g, ask)); diff != "" {
			t.Errorf("stream %t: -first +again\n%s", stream, diff)
		}
	}
	return first
}

func said(t *testing.T, url string, g handlerstest.Generation, ask handlerstest.Ask) []handlerstest.Answer {
	t.Helper()
	reply := post(t, url+g.Path, string(g.Body(ask)))
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != 200 {
		t.Fatalf("status %d, error %v\n%s", reply.StatusCode, err, body)
	}
	read := g.Whole
	if ask.Stream {
		read = g.Fold
	}
	answers, err := read(body)
	if err != nil || len(answers) == 0 {
		t.Fatalf("error %v\n%s", err, body)
	}
	return answers
}
