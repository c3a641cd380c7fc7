package contract

import (
	"bytes"
	"cmp"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/internal/atomicfile"
	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/report"
)

// outputs are the forms in which a summary is written.
type outputs struct {
	json                   bool
	junit, markdown, badge string // files
}

func (o *outputs) register(flags *pflag.FlagSet) {
	flags.BoolVar(&o.json, "json", false, "print JSON; fields: server, models, profile, marks, date, score, passed, failed, skipped, not_offered, results (name, about, outcome, known, reason, seconds, link, failures (message, document, curl, status, reply)); with --list: name, about, operation, needs")
	flags.StringVar(&o.junit, "junit", "", "write JUnit XML to `FILE`; failures in the baseline are skipped there")
	flags.StringVar(&o.markdown, "markdown", "", "write Markdown to `FILE`")
	flags.StringVar(&o.badge, "badge", "", "write the score as an SVG badge to `FILE`")
}

// write writes what the flags name.
func (o *outputs) write(env Environment, s report.Summary) error {
	shown := s.Text
	if o.json {
		shown = s.JSON
	}
	if err := shown(env.Stdout); err != nil {
		return err
	}
	return cmp.Or(
		writeFile(o.junit, s.JUnit),
		writeFile(o.markdown, s.Markdown),
		writeFile(o.badge, s.Badge),
	)
}

// writable finds, before a run, what it could not write in the end.
func (o *verifyOptions) writable() error {
	taken := map[string]string{}
	files := []struct{ flag, path string }{
		{"--junit", o.outputs.junit}, {"--markdown", o.outputs.markdown}, {"--badge", o.outputs.badge}, {"--baseline", o.baseline},
	}
	for _, f := range files {
		if f.path == "" || f.flag == "--baseline" && !o.writeBaseline {
			continue
		}
		at, err := place(f.path)
		if err != nil {
			return exit.Failed("verify: %s cannot be written: %w", f.flag, err)
		}
		if other := taken[at]; at != "" && other != "" {
			return exit.Usage("verify: %s and %s name one file, %s", other, f.flag, f.path)
		}
		taken[at] = f.flag
	}
	return nil
}

// place is the one name of a file that can be written; empty for what takes several outputs,
// such as a pipe.
func place(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if at, err := filepath.EvalSymlinks(path); err == nil {
		path = at
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return "", fmt.Errorf("%s is a directory", path)
	case err == nil && !info.Mode().IsRegular():
		return "", nil
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	probe, err := os.CreateTemp(folder, ".verify-*") // as the file itself will be made
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, filepath.Base(path)), errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// writeFile writes a whole file, or leaves the one that is there: it may hold words of
// people. An empty path writes none.
func writeFile(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	path = filepath.Clean(path)
	if at, err := filepath.EvalSymlinks(path); err == nil {
		path = at
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		if mode = info.Mode(); !mode.IsRegular() { // a terminal, a pipe
			return os.WriteFile(path, text.Bytes(), 0)
		}
	}
	return atomicfile.Write(path, mode.Perm(), &text)
}

// listed is a scenario as --list prints it.
type listed struct {
	Name      string           `json:"name"`
	About     string           `json:"about"`
	Operation string           `json:"operation,omitempty"`
	Needs     conformance.Need `json:"needs,omitempty"`
}

func (o *outputs) list(env Environment, all []conformance.Scenario) error {
	if o.json {
		var list []listed
		for _, s := range all {
			list = append(list, listed{s.Name, s.About, s.Operation, s.Needs})
		}
		return json.MarshalWrite(env.Stdout, list, jsontext.WithIndent("  "))
	}
	var rows [][]string
	for _, s := range all {
		rows = append(rows, []string{s.Name, s.About})
	}
	return terminal.Table(env.Stdout, []string{"NAME", "ABOUT"}, rows)
}
