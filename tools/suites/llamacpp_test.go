package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExceptions(t *testing.T) {
	if _, err := parseExceptions(llamaList); err != nil {
		t.Error(err)
	}
	for name, text := range map[string]string{
		"a test without a reason":       "tests: [{test: 'a.py::*', reason: None.}]",
		"an assertion without a reason": "assertions: [{matches: x}]",
		"an unknown member":             "tests: [{name: a, reason: It has no test.}]",
	} {
		if _, err := parseExceptions([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestAdapt needs Python, as do all suites of it.
func TestAdapt(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "tests")
	for name, text := range map[string]string{
		"utils.py":       "def check(x):\n    assert 'timings' in x\n    assert x\n",
		"conftest.py":    "",
		"pytest.ini":     "",
		"unit/test_a.py": "def test_one():\n    if 1:\n        assert (1 ==\n            2), 'it says 3'\n\ndef test_two():\n    assert 1 == 2\n",
		"list.json": `{"assertions": [{"matches": "'timings'"}, {"matches": "1 == 2$", "in": "test_a.py::test_o*"},
			{"matches": "says 3"}, {"matches": "2", "in": "test_b.py::*"}]}`,
	} {
		write(t, filepath.Join(from, name), text)
	}
	cmd := exec.CommandContext(t.Context(), "python3", "llamacpp/adapt.py", from, to, filepath.Join(from, "list.json"))
	cmd.Stderr = t.Output()
	said, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"says 3", "2"}, lines(string(said))); diff != "" {
		t.Errorf("unused: -want +got\n%s", diff)
	}
	for name, want := range map[string]string{
		"utils.py":       "def check(x):\n    pass\n    assert x",
		"unit/test_a.py": "def test_one():\n    if 1:\n        pass\n\ndef test_two():\n    assert 1 == 2",
	} {
		got, err := os.ReadFile(filepath.Join(to, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestLlamaResults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.json")
	write(t, file, `{"passed": ["a", "b"], "failed": {"c": "it broke"}, "skipped": ["d"], "unused": ["e.py::*"]}`)
	var said bytes.Buffer
	got, err := llamaResults(&said, file, []string{"f$"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (tally{passed: 2, failed: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, want := range []string{"FAIL c\nit broke", "nothing matches f$", "nothing matches e.py::*", "1 tests do not apply"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("nothing says %q:\n%s", want, said.String())
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
