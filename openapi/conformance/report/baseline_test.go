package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/openapi/conformance"
)

func TestBaseline(t *testing.T) {
	known := Baseline{"a/fails": "why", "a/passes": "", "a/skipped": "later", "a/not-chosen": "", "a/gone": "x"}
	var r conformance.Report
	for name, o := range map[string]conformance.Outcome{
		"a/fails": conformance.Fail, "a/passes": conformance.Pass, "a/skipped": conformance.Skipped,
	} {
		r.Results = append(r.Results, conformance.Result{Scenario: conformance.Scenario{Name: name}, Outcome: o})
	}
	r.Results = append(r.Results, conformance.Result{Scenario: conformance.Scenario{Name: "a/new"}, Outcome: conformance.Fail})
	c := known.Compare(r, []string{"a/fails", "a/passes", "a/skipped", "a/not-chosen", "a/new"})
	want := Comparison{New: []string{"a/new"}, Known: []string{"a/fails"}, Fixed: []string{"a/passes"}, Gone: []string{"a/gone"}}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("comparison (-want +got)\n%s", diff)
	}
	next := Baseline{"a/fails": "why", "a/skipped": "later", "a/not-chosen": "", "a/new": ""}
	if diff := cmp.Diff(next, known.Update(c)); diff != "" {
		t.Errorf("update (-want +got)\n%s", diff)
	}
}

func TestBaselineFile(t *testing.T) {
	for _, b := range []Baseline{{}, {"openai/chat/field/messages[role=user].content[]": "it's: \"so\"", "b": ""}} {
		var text bytes.Buffer
		if err := b.Write(&text); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "known.yaml")
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadBaseline(path)
		if diff := cmp.Diff(b, got); err != nil || diff != "" {
			t.Errorf("%v: %v (-want +got)\n%s", b, err, diff)
		}
	}
	path := filepath.Join(t.TempDir(), "list.yaml")
	if err := os.WriteFile(path, []byte("- a\n- b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadBaseline(path); err == nil {
		t.Error("a list was read as a baseline")
	}
	if err := os.WriteFile(path, bytes.Repeat([]byte("#"), maxBaseline+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadBaseline(path); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a large file: error %v", err)
	}
}
