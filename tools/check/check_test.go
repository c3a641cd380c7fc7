package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func stub(count tally, err error) func(context.Context, io.Writer) (tally, error) {
	return func(_ context.Context, out io.Writer) (tally, error) {
		fmt.Fprintln(out, "details")
		return count, err
	}
}

func TestRunAll(t *testing.T) {
	boom := errors.New("boom")
	for _, tt := range []struct {
		name     string
		step     step
		want     string // the last line
		contains string
	}{
		{"a step without counts is one check", step{"vet", "", stub(tally{}, nil), ""}, "1 passed, 0 failed", "ok   vet"},
		{"counts are taken over", step{"test", "", stub(tally{passed: 7}, nil), ""}, "7 passed, 0 failed", "ok   test"},
		{"an error is one failure", step{"vet", "", stub(tally{}, boom), ""}, "0 passed, 1 failed", "boom"},
		{"an error beside counted failures is none more", step{"test", "", stub(tally{passed: 2, failed: 3}, boom), ""}, "2 passed, 3 failed", "details"},
		{"an error after passed tests is a failure", step{"test", "", stub(tally{passed: 2}, boom), ""}, "2 passed, 1 failed", "boom"},
		{"a note of a step that passed is told", step{"agents", "", func(_ context.Context, out io.Writer) (tally, error) {
			fmt.Fprintln(out, "note: no program")
			return tally{}, nil
		}, ""}, "1 passed, 0 failed", "note: no program"},
		{"skipped tests are told", step{"test", "", stub(tally{passed: 2, skipped: 4}, nil), ""}, "2 passed, 0 failed", "4 skipped"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			runAll(t.Context(), []step{tt.step}, &out)
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if got := lines[len(lines)-1]; got != tt.want {
				t.Errorf("last line %q, want %q", got, tt.want)
			}
			if !strings.Contains(out.String(), tt.contains) {
				t.Errorf("output lacks %q:\n%s", tt.contains, out.String())
			}
		})
	}
}

// TestLanes has steps that end only if the right ones run at the same time.
func TestLanes(t *testing.T) {
	met, order := make(chan struct{}), make(chan string, 5)
	meet := func(name string, how func()) func(context.Context, io.Writer) (tally, error) {
		return func(context.Context, io.Writer) (tally, error) {
			how()
			order <- name
			return tally{passed: 1}, nil
		}
	}
	nothing := func() {}
	got := runAll(t.Context(), []step{
		{"first", "", meet("first", nothing), ""},
		{"left", "", meet("left", func() { met <- struct{}{} }), "left"},
		{"right", "", meet("right", func() { <-met }), "right"},
		{"right2", "", meet("right2", func() { met <- struct{}{} }), "right"},
		{"left2", "", meet("left2", func() { <-met }), "left"},
	}, io.Discard)
	if got.passed != 5 || <-order != "first" {
		t.Errorf("%d steps passed, want 5, and the one without a lane first", got.passed)
	}
}

func TestChoose(t *testing.T) {
	all := []step{{name: "a"}, {name: "b"}, {name: "c"}}
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, "abc"},
		{[]string{"c", "a"}, "ac"},
		{[]string{"a", "x"}, "error"},
	} {
		got := ""
		chosen, err := choose(all, tt.names)
		if err != nil {
			got = "error"
		}
		for _, s := range chosen {
			got += s.name
		}
		if got != tt.want {
			t.Errorf("choose(%v) = %s, want %s", tt.names, got, tt.want)
		}
	}
}

// TestWithImageEngine: the engine is built right before its tests.
func TestWithImageEngine(t *testing.T) {
	var names []string
	for _, s := range withImageEngine(steps) {
		names = append(names, s.name)
	}
	if got := names[len(names)-2:]; !slices.Equal(got, []string{"imagegen", "images"}) || len(names) != len(steps)+1 {
		t.Errorf("the last steps are %q", got)
	}
}

func TestReadTests(t *testing.T) {
	const events = `
{"Action":"output","Package":"p","Test":"TestA","Output":"quiet\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB/sub","Output":"loud\n"}
{"Action":"fail","Package":"p","Test":"TestB/sub"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p"}
{"Action":"output","Package":"p","Test":"TestC","Output":"no reason\n"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"ImportPath":"q","Action":"build-output","Output":"does not compile\n"}
{"ImportPath":"q","Action":"build-fail"}
{"Action":"fail","Package":"q","FailedBuild":"q"}
{"Action":"skip","Package":"r"}
exit status 1
`
	var out strings.Builder
	got := readTests(strings.NewReader(strings.TrimSpace(events)), &out)
	if diff := cmp.Diff(tally{passed: 1, failed: 3, skipped: 1}, got, cmp.AllowUnexported(tally{})); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if want := "loud\nno reason\ndoes not compile\nexit status 1\n"; out.String() != want {
		t.Errorf("output %q, want %q", out.String(), want)
	}
}

func TestDifferences(t *testing.T) {
	before := map[string][]byte{"same": []byte("1"), "changed": []byte("1"), "gone": []byte("1")}
	after := map[string][]byte{"same": []byte("1"), "changed": []byte("2"), "new": []byte("1")}
	got := strings.Join(differences(before, after), " ")
	for _, name := range []string{"changed", "gone", "new"} {
		if !strings.Contains(got, name) {
			t.Errorf("differences = %s, lacks %s", got, name)
		}
	}
	if strings.Contains(got, "same") {
		t.Errorf("differences = %s, has a file that is the same", got)
	}
}
