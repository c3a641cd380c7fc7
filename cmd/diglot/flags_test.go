package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
)

// TestNumbers holds that no flag of any command takes a number that cannot be
// meant, and that the refusal says which can be.
func TestNumbers(t *testing.T) {
	absurd := map[string][]string{
		"time":    {"", "-1s", "5", "1000000h", "9999999999999h", "1e3h", "infinite"},
		"memory":  {"", "-1GB", "12", "much", "9999PB", "99999999999999999999PB", "NaN", "1e300GB"},
		"percent": {"", "-1", "100.1", "NaN", "Inf", "1e300", "most"},
		"speed":   {"", "0", "-1", "NaN", "Inf", "1e300", "2m", "-1s", "fast"},
	}
	others := map[string]bool{"bool": true, "string": true, "file": true, "text": true, "NAME=VALUE": true, "REGEXP": true, "header": true, "pattern": true,
		"float64Slice": true, // of the runner, from definitions that were checked
	}
	tested := 0
	eachFlag(newRoot(environment{}), func(command string, f *pflag.Flag) {
		name := command + " --" + f.Name
		switch kind := f.Value.Type(); {
		case kind == "number":
			w, ok := f.Value.(flagvalue.Within)
			if !ok {
				t.Errorf("%s: a number of type %T, not a range", name, f.Value)
				return
			}
			tested++
			says := fmt.Sprintf("from %d to %d", w.Least, w.Most)
			for _, value := range []string{strconv.Itoa(w.Least - 1), strconv.Itoa(w.Most + 1), "", "x", "1.5", "1e9", "0x10", "9223372036854775808"} {
				if err := f.Value.Set(value); err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("%s %s: %v, want an error with %q", name, value, err, says)
				}
			}
			for _, value := range []int{w.Least, w.Most} {
				if err := f.Value.Set(strconv.Itoa(value)); err != nil {
					t.Errorf("%s %d: %v", name, value, err)
				}
			}
		case kind == "name":
			tested++
			for _, value := range []string{"", "x", f.Value.String() + " "} {
				if err := f.Value.Set(value); err == nil {
					t.Errorf("%s %q: no error", name, value)
				}
			}
		case kind == "model": // any name may be one: the store tells
			tested++
			if err := f.Value.Set(""); err == nil {
				t.Errorf("%s \"\": no error", name)
			}
		case absurd[kind] != nil:
			tested++
			for _, value := range absurd[kind] {
				if err := f.Value.Set(value); err == nil || !strings.Contains(err.Error(), " from ") {
					t.Errorf("%s %q: %v, want an error with the range", name, value, err)
				}
			}
		case !others[kind]:
			t.Errorf("%s: a flag of type %q, whose range nothing holds", name, kind)
		}
	})
	if tested < 5 {
		t.Errorf("%d numbers were found", tested)
	}
}

func eachFlag(c *cobra.Command, f func(command string, flag *pflag.Flag)) {
	c.LocalFlags().VisitAll(func(flag *pflag.Flag) { f(c.CommandPath(), flag) })
	for _, child := range c.Commands() {
		eachFlag(child, f)
	}
}
