package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// saidDefault is the default that the usage of a flag ends with, where the
// flag itself has none.
var saidDefault = regexp.MustCompile(`\(default ([^()]*)\)$`)

// TestSecurityFlags holds the table of budgets in SECURITY.md against the
// flags of serve: each that it names is there and has the default that it
// says, and each that bounds something is named.
func TestSecurityFlags(t *testing.T) {
	text, err := os.ReadFile("../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	flags := newServe(environment{}).Flags()
	named := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 7 || !strings.HasPrefix(strings.TrimSpace(cells[3]), "`--") {
			continue
		}
		name := strings.Trim(strings.TrimSpace(cells[3]), "`-")
		named[name] = true
		f := flags.Lookup(name)
		if f == nil {
			t.Errorf("there is no flag --%s", name)
			continue
		}
		if want := defaultOf(f); strings.TrimSpace(cells[4]) != want {
			t.Errorf("--%s: the default is %q, and the table says %q", name, want, strings.TrimSpace(cells[4]))
		}
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if bounds := strings.HasPrefix(f.Name, "max-") || strings.HasSuffix(f.Name, "-timeout"); bounds && !named[f.Name] {
			t.Errorf("--%s is a bound, and the table does not name it", f.Name)
		}
	})
	if len(named) < 4 {
		t.Errorf("the table names %d flags", len(named))
	}
}

func defaultOf(f *pflag.Flag) string {
	if said := saidDefault.FindStringSubmatch(f.Usage); said != nil {
		return said[1]
	}
	return f.DefValue
}
