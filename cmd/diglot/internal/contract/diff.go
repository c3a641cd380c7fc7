package contract

import (
	"encoding/json/jsontext"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/internal/cassette"
	"github.com/diglot/diglot/internal/cassette/difference"
	"github.com/diglot/diglot/internal/plainjson"
)

const diffHelp = `Compare two recordings of the same cases, each a cassette file or a folder of them: two
servers with the same client, or one server before and after a change.

The words are about B: "missing" is a field that only A has, and "a, not b" is a value
that was b in A. These are differences: the status, a missing or added field, its type,
a value that is a word or a number of the API, whether a count of tokens is zero, the
order of events and of typed items, the framing of a stream, headers that are recorded.
These are not: ids, times, what the model says, counts above zero, the wording of error
messages, the order of fields in an object.

The exit code is 0 if there is no difference, and 1 if there is one.`

// diffOptions are the flags of diff.
type diffOptions struct {
	json     bool
	markdown string
	ignore   flagvalue.Patterns
}

func newDiff(env Environment) *cobra.Command {
	var o diffOptions
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two recordings of the same cases",
		Long:  diffHelp,
		Example: `  diglot diff recorded/old recorded/new
  diglot diff ours/chat.yaml theirs/chat.yaml
  diglot diff --ignore '^timings' --json old new | jq -r '.differences[].text'`,
		GroupID: Group,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return exit.Usage("diff: want two recordings, A and B")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args[0], args[1], env.Stdout) },
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON; fields: cases, same, differences (operation, event, path, kind, text, cases)")
	c.Flags().Var(flagvalue.Path{To: &o.markdown}, "markdown", "write the differences to `FILE` as Markdown tables")
	c.Flags().Var(&o.ignore, "ignore", "ignore differences whose place, such as usage.total_tokens, matches `REGEXP`; repeatable")
	return c
}

func (o *diffOptions) run(before, now string, out io.Writer) error {
	a, err := readCases(before)
	if err != nil {
		return err
	}
	b, err := readCases(now)
	if err != nil {
		return err
	}
	c := difference.Compare(a, b).Without(o.ignore)
	page := func(w io.Writer) error {
		_, err := io.WriteString(w, strings.TrimPrefix(c.Markdown("##"), "\n"))
		return err
	}
	if err := writeFile(o.markdown, page); err != nil {
		return err
	}
	if err := o.print(out, c); err != nil {
		return err
	}
	return verdictOf(c)
}

// verdictOf is the error of recordings that differ.
func verdictOf(c difference.Comparison) error {
	alone := 0 // cases that only one recording has
	for _, d := range c.Differences {
		if d.Operation == "" {
			alone += len(d.Cases)
		}
	}
	switch differ := c.Cases - c.Same; {
	case len(c.Differences) == 0:
		return nil
	case alone == 0:
		return fmt.Errorf("%d of %d cases differ", differ, c.Cases)
	default:
		return fmt.Errorf("%d of %d cases differ; in one recording only: %d", differ, c.Cases, alone)
	}
}

// readCases reads a recording, which may not be empty: a wrong folder would be the same
// as everything.
func readCases(name string) ([]cassette.Cassette, error) {
	all, err := cassette.Read(name)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s has no cassettes", name)
	}
	return all, err
}

func (o *diffOptions) print(out io.Writer, c difference.Comparison) error {
	if !o.json {
		_, err := io.WriteString(out, terminal.Text(c.Text())) // it quotes a server
		return err
	}
	if c.Differences == nil {
		c.Differences = []difference.Difference{}
	}
	text, err := plainjson.Marshal(c, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	_, err = out.Write(append(text, '\n'))
	return err
}
