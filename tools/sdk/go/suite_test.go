// Package gosdk runs the vendors' Go SDKs against a diglot server. Its test
// program takes
//
//	BASE_URL MODEL script|real|vision|record
//
// and without them runs the tests that need no server.
//
// Every case gets clients of its own. When recording, the case's name stands
// in their base URL, where the recording proxy takes it from. What the model
// says is in cassettes/script.yaml; here stands what the SDK made of it.
package gosdk

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

// suite runs cases against one server.
type suite struct {
	baseURL, model, mode string
	passed, failed       int
}

// check is what went wrong in a case; the last complaint is enough, the
// others may follow from it.
type check struct{ problems []string }

// equal compares values that print well.
func equal[T comparable](c *check, what string, got, want T) {
	if got != want {
		c.problems = append(c.problems, fmt.Sprintf("%s: got %v, want %v", what, got, want))
	}
}

func (c *check) holds(ok bool, format string, args ...any) {
	if !ok {
		c.problems = append(c.problems, fmt.Sprintf(format, args...))
	}
}

// fine reports an error that should not be, and reports whether there is none.
func (c *check) fine(err error) bool {
	c.holds(err == nil, "unexpected error: %v", err)
	return err == nil
}

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.NArg() == 0 {
		os.Exit(m.Run())
	}
	if flag.NArg() != 3 {
		fmt.Fprintln(os.Stderr, "give BASE_URL MODEL script|real|vision|record")
		os.Exit(2)
	}
	s := &suite{baseURL: strings.TrimSuffix(flag.Arg(0), "/"), model: flag.Arg(1), mode: flag.Arg(2)}
	s.run(context.Background())
	fmt.Printf("%d passed, %d failed\n", s.passed, s.failed)
	if s.failed > 0 {
		os.Exit(1)
	}
}

func (s *suite) run(ctx context.Context) {
	switch s.mode {
	case "real":
		s.runOpenAI(ctx, openaiReal)
		s.runAnthropic(ctx, anthropicReal)
	case "vision":
		s.runOpenAI(ctx, openaiVision)
		s.runAnthropic(ctx, anthropicVision)
	case "images":
		s.runOpenAI(ctx, openaiDrawing)
	default:
		s.runOpenAI(ctx, openaiCases)
		s.runOpenAI(ctx, openaiTextCases)
		s.runOpenAI(ctx, openaiResponseCases)
		s.runAnthropic(ctx, anthropicCases)
	}
}

// address is the server, or the recording proxy with the case in its path.
func (s *suite) address(style, name string) string {
	if s.mode != "record" {
		return s.baseURL
	}
	return s.baseURL + "/record/" + style + "/" + name + "-go"
}

func (s *suite) report(style, name string, c *check) {
	if len(c.problems) == 0 {
		s.passed++
		fmt.Printf("ok   go %s %s\n", style, name)
		return
	}
	s.failed++
	fmt.Printf("FAIL go %s %s\n     %s\n", style, name, strings.Join(c.problems, "\n     "))
}
