package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/diglot/diglot/openapi"
)

// sdkType is what the replies of a place are in the SDKs.
type sdkType struct {
	Style, Route, Part       string
	Python, Node, Go         string
	Required, Enum, Constant string // pointers, for doctored replies
}

func (s sdkType) name(sdk string) string {
	return map[string]string{"python": s.Python, "node": s.Node, "go": s.Go}[sdk]
}

func (s sdkType) place() place { return place{s.Style, s.Route, s.Part} }

// typedCase is a value for a judge to hold against a type.
type typedCase struct {
	ID    int    `json:"id"`
	Type  string `json:"type"`
	Value any    `json:"value"`

	what   string // for who reads a failure
	misfit bool   // it must not fit
}

// judge returns what is wrong with values, by their IDs.
type judge func(t *testing.T, cases []typedCase) map[int]string

func judges(t *testing.T) map[string]judge {
	t.Helper()
	if _, _, err := prepare(t.Context(), options{suites: []string{"python", "node"}}); err != nil {
		t.Fatal(err)
	}
	return map[string]judge{"python": program("python", "python3", "recorded.py"), "node": program("node", "node", "recorded.js"), "go": judgeGo}
}

// program is a judge that runs in the folder of a suite, with what that has
// installed.
func program(name string, command ...string) judge {
	s := suites[slices.IndexFunc(suites, func(s suite) bool { return s.name == name })]
	return func(t *testing.T, cases []typedCase) map[int]string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "cases.json")
		if err := os.WriteFile(file, []byte(marshal(t, cases)), 0o600); err != nil {
			t.Fatal(err)
		}
		run := s.process(t.Context(), command[0], append(command[1:], file)...)
		said, err := run.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", run, err, said)
		}
		problems := map[int]string{}
		for line := range bytes.Lines(said) {
			var found struct {
				ID      int
				Problem string
			}
			if err := json.Unmarshal(line, &found); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			problems[found.ID] = found.Problem
		}
		return problems
	}
}

// hold asks all judges; they have to find what must not fit.
func hold(t *testing.T, cases func(t *testing.T, sdk string) []typedCase) {
	all := judges(t)
	for _, sdk := range slices.Sorted(maps.Keys(all)) {
		t.Run(sdk, func(t *testing.T) {
			t.Parallel()
			list := cases(t, sdk)
			for i := range list {
				list[i].ID = i
			}
			problems := all[sdk](t, list)
			told := map[string]bool{} // what is wrong with one is wrong with many
			for _, c := range list {
				switch problem := problems[c.ID]; {
				case told[c.Type+problem]:
				case !c.misfit && problem != "":
					told[c.Type+problem] = true
					t.Errorf("%s is no %s: %s\n%s", c.what, c.Type, problem, marshal(t, c.Value))
				case c.misfit && problem == "":
					t.Errorf("%s: fits %s all the same\n%s", c.what, c.Type, marshal(t, c.Value))
				}
			}
		})
	}
}

// TestRecordedReplies holds what clients were answered against the types of
// the vendors' SDKs: closed, and with all that is required. A difference of
// the list must be one still.
func TestRecordedReplies(t *testing.T) {
	replies, types, differences := recordedReplies(t), readTypes(t), readDifferences(t)
	hold(t, func(t *testing.T, sdk string) []typedCase {
		var cases []typedCase
		needed := map[int]bool{}
		for _, r := range replies {
			s, ok := typeOf(types, r.place)
			if !ok {
				t.Errorf("%s: testdata/types.yaml does not say what %v is", r.from, r.place)
				continue
			}
			value, undone := undoAll(t, r, sdk, differences, -1)
			cases = append(cases, typedCase{Type: s.name(sdk), Value: value, what: r.from + ": " + r.place.String()})
			for _, i := range undone {
				if !needed[i] {
					needed[i] = true
					value, _ := undoAll(t, r, sdk, differences, i)
					cases = append(cases, typedCase{Type: s.name(sdk), Value: value, misfit: true, what: r.from + ": " + differences[i].String()})
				}
			}
		}
		for i, d := range differences {
			if slices.Contains(d.SDKs, sdk) && !needed[i] {
				t.Errorf("no reply differs in %v", d)
			}
		}
		return cases
	})
}

// TestDoctoredReplies shows that each judge sees what is wrong with a reply
// and with an event.
func TestDoctoredReplies(t *testing.T) {
	replies, types, differences := recordedReplies(t), readTypes(t), readDifferences(t)
	hold(t, func(t *testing.T, sdk string) []typedCase {
		var cases []typedCase
		doctor := func(s sdkType, what, pointer string, change func(holder any, name string)) {
			if pointer == "" {
				return
			}
			for _, r := range replies {
				value, _ := undoAll(t, r, sdk, differences, -1)
				if s.place().covers(r.place) && has(value, pointer) {
					edit(value, tokens(pointer), change)
					cases = append(cases, typedCase{Type: s.name(sdk), Value: value, misfit: true, what: s.place().String() + ", " + what + pointer})
					return
				}
			}
			t.Errorf("%v has no %s", s.place(), pointer)
		}
		wrong := func(holder any, name string) { setMember(holder, name, "not_in_the_sdk") }
		for _, s := range types {
			doctor(s, "without ", s.Required, func(holder any, name string) { delete(holder.(map[string]any), name) })
			doctor(s, "more beside ", s.Required, func(holder any, name string) { setMember(holder, "not_in_the_sdk", 1) })
			doctor(s, "wrong ", s.Constant, wrong)
			if sdk != "go" {
				doctor(s, "wrong ", s.Enum, wrong)
			}
		}
		return cases
	})
}

// has reports whether something other than null is at a pointer.
func has(value any, pointer string) bool {
	there := false
	edit(value, tokens(pointer), func(holder any, name string) {
		found, _ := member(holder, name)
		there = found != nil
	})
	return there
}

// TestEveryOperationIsRecorded checks that no reply or event is left out.
func TestEveryOperationIsRecorded(t *testing.T) {
	recorded := map[place]bool{}
	for _, r := range recordedReplies(t) {
		recorded[r.place] = true
	}
	for style, load := range map[string]func() (*openapi.Document, error){"openai": openapi.OpenAI, "anthropic": openapi.Anthropic} {
		document, err := load()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range document.Operations() {
			for _, r := range o.Replies {
				p := place{style, o.Method + " " + o.Path, "reply"}
				if r.Stream != nil {
					p.Part = "event"
				}
				if r.Status < 300 && !recorded[p] {
					t.Errorf("no recording has a %v", p)
				}
			}
		}
	}
}

func readTypes(t *testing.T) []sdkType {
	t.Helper()
	var all []sdkType
	readYAML(t, "types.yaml", &all)
	return all
}

func typeOf(types []sdkType, p place) (sdkType, bool) {
	i := slices.IndexFunc(types, func(s sdkType) bool { return s.place().covers(p) })
	if i < 0 {
		return sdkType{}, false
	}
	return types[i], true
}
