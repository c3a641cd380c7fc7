package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/diglot/diglot/openapi/conformance"
)

const junitBody = 4000 // bytes of a request or a reply

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure"`
	Skipped *junitSkipped `xml:"skipped"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

// JUnit writes the summary as JUnit XML, a suite for each group. Failures that the baseline
// knows are skipped there, as CI systems have no other word for them.
func (s Summary) JUnit(w io.Writer) error {
	out := junitSuites{Name: "diglot verify"}
	for _, g := range s.Groups() {
		suite := s.suite(g)
		out.Tests += suite.Tests
		out.Failures += suite.Failures
		out.Skipped += suite.Skipped
		out.Suites = append(out.Suites, suite)
	}
	text, err := xml.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}

func (s Summary) suite(g Group) junitSuite {
	suite := junitSuite{Name: g.Name, Tests: len(g.Results), Timestamp: s.Date.UTC().Format(time.RFC3339)}
	var took time.Duration
	for _, r := range g.Results {
		took += r.Duration
		c := s.testcase(r)
		if c.Failure != nil {
			suite.Failures++
		}
		if c.Skipped != nil {
			suite.Skipped++
		}
		suite.Cases = append(suite.Cases, c)
	}
	suite.Time = seconds(took)
	return suite
}

func (s Summary) testcase(r conformance.Result) junitCase {
	group, promise := Split(r.Name)
	c := junitCase{Name: promise, Class: strings.ReplaceAll(group, "/", "."), Time: seconds(r.Duration)}
	reason, known := s.Baseline[r.Name]
	switch {
	case r.Outcome == conformance.Fail && known:
		c.Skipped = &junitSkipped{strings.TrimSuffix("known to fail: "+s.known(reason), ": ")}
	case r.Outcome == conformance.Fail:
		c.Failure = &junitFailure{Message: s.start([]byte(r.Failures[0].Message), junitBody, 0), Text: s.blocks(r)}
	case r.Outcome != conformance.Pass:
		c.Skipped = &junitSkipped{string(r.Outcome) + ": " + s.reason(r.Reason)}
	}
	return c
}

func (s Summary) blocks(r conformance.Result) string {
	var b strings.Builder
	fmt.Fprintln(&b, r.About)
	for _, f := range r.Failures {
		fmt.Fprintf(&b, "\n%s", s.show(f, junitBody).block())
	}
	if link := s.Link(r.Scenario); link != "" {
		fmt.Fprintf(&b, "\nsee %s\n", link)
	}
	return b.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
