package contract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/report"
)

// known reads the baseline, nil if the flags name none. Only a run that writes the file may
// begin without it.
func (o *verifyOptions) known() (report.Baseline, error) {
	if o.baseline == "" {
		return nil, nil
	}
	b, err := report.ReadBaseline(o.baseline)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return b, err
	case o.writeBaseline:
		return report.Baseline{}, nil
	}
	return nil, exit.Usage("verify: --baseline names %s, which is not there; --write-baseline makes it", o.baseline)
}

// verdict tells how the run compares with the baseline, writes that, and decides whether
// the run passed.
func (o *verifyOptions) verdict(ctx context.Context, env Environment, s report.Summary, all []string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if s.Err != nil {
		return exit.Unreachable("verify: the server cannot be reached any more: %w", s.Err)
	}
	compared := s.Baseline.Compare(s.Report, all)
	if s.Baseline != nil {
		tell(env.Stderr, compared)
	}
	if o.writeBaseline {
		return writeFile(o.baseline, s.Baseline.Update(compared).Write)
	}
	tested := s.Count(conformance.Pass) + s.Count(conformance.Fail)
	switch {
	case tested == 0:
		return exit.Failed("verify: no scenario could be tested")
	case o.minScore >= 0 && s.Score() < float64(o.minScore):
		return exit.Failed("verify: the score is %.1f %%, below %v", s.Score(), o.minScore)
	case s.Baseline != nil && len(compared.New) > 0:
		return exit.Failed("verify: %d scenarios fail that are not in %s", len(compared.New), o.baseline)
	case s.Baseline == nil && o.minScore < 0 && s.Count(conformance.Fail) > 0:
		return errFailed
	}
	return nil
}

// tell names what differs from the baseline.
func tell(w io.Writer, c report.Comparison) {
	for _, part := range []struct {
		what  string
		names []string
	}{
		{"new failure", c.New},
		{"fixed, and still in the baseline", c.Fixed},
		{"in the baseline, and no scenario any more", c.Gone},
	} {
		for _, name := range part.names {
			fmt.Fprintf(w, "%s: %s\n", part.what, report.Plain(strings.ReplaceAll(name, "\n", " ")))
		}
	}
	fmt.Fprintf(w, "baseline: %d known failures, %d new, %d fixed, %d gone\n", len(c.Known), len(c.New), len(c.Fixed), len(c.Gone))
}
