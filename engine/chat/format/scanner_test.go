package format

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// scan reads pieces as a format does and folds the events. It fails the test
// where the events break their grammar.
func scan(t *testing.T, format *Format, tools Tools, opening string, pieces ...string) []engine.Block {
	t.Helper()
	w := &writer{holdSpace: true, newID: func() string { return "id" }}
	s := newScanner(format, tools, opening, w)
	for _, p := range pieces {
		w.tokens.add(engine.TokenLogprob{Token: []byte(p)})
		s.write([]byte(p))
	}
	s.finish(engine.FinishMaxTokens)
	w.finish(engine.FinishEndOfTurn)
	return fold(t, w.take()).Blocks
}

// fold makes the choice that events describe.
func fold(t *testing.T, events []engine.Event) engine.Choice {
	t.Helper()
	r, err := engine.Collect(func(yield func(engine.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.Choices[0]
}

// toolsOf reads tools.
func toolsOf(t *testing.T, tools []engine.Tool) Tools {
	t.Helper()
	set, _, err := NewTools(t.Context(), tools)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// testTools are the tools of the tables: names, and for the formats that need
// them, parameters.
func testTools(t *testing.T) Tools {
	t.Helper()
	return toolsOf(t, []engine.Tool{
		{Name: "get_weather", Parameters: []byte(`{"type":"object","properties":{
			"city":{"type":"string"},"days":{"type":"integer"},"exact":{"type":"boolean"},"where":{"type":"object"},"tags":{"type":"array"}}}`)},
		{Name: "now"},
	})
}

// scanCase is one row of a format's table.
type scanCase struct {
	name    string
	opening string
	output  string
	want    []engine.Block
}

// runScanCases checks each row whole, byte by byte, and cut at random.
func runScanCases(t *testing.T, formatName string, cases []scanCase) {
	t.Helper()
	format, ok := ByName(formatName)
	if !ok {
		t.Fatalf("no format %q", formatName)
	}
	tools := testTools(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, scan(t, format, tools, c.opening, c.output)); diff != "" {
				t.Fatalf("whole (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.want, scan(t, format, tools, c.opening, strings.Split(c.output, "")...)); diff != "" {
				t.Errorf("by character (-want +got):\n%s", diff)
			}
			for i := range len(c.output) {
				if diff := cmp.Diff(c.want, scan(t, format, tools, c.opening, c.output[:i], c.output[i:])); diff != "" {
					t.Fatalf("cut at %d, %q (-want +got):\n%s", i, c.output[:i], diff)
				}
			}
			for range 20 {
				pieces := cutRandomly(random, c.output)
				if diff := cmp.Diff(c.want, scan(t, format, tools, c.opening, pieces...)); diff != "" {
					t.Fatalf("cut as %q (-want +got):\n%s", pieces, diff)
				}
			}
		})
	}
}

func cutRandomly(random *rand.Rand, s string) []string {
	var pieces []string
	for s != "" {
		n := 1 + random.IntN(min(len(s), 12))
		pieces = append(pieces, s[:n])
		s = s[n:]
	}
	return pieces
}

func TestNames(t *testing.T) {
	for _, name := range Names() {
		if f, ok := ByName(name); !ok || f.Name != name {
			t.Errorf("ByName(%q) = %v, %v", name, f, ok)
		}
	}
	if _, ok := ByName("nothing"); ok {
		t.Error(`ByName("nothing") found one`)
	}
	if fmt.Sprint(Names()) == "[]" {
		t.Error("no formats")
	}
}
