package report

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io"
	"time"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

const jsonBody = 16 << 10 // bytes of a request or a reply

type jsonSummary struct {
	Server     string          `json:"server"`
	Models     jsonModels      `json:"models"`
	Profile    openapi.Profile `json:"profile"`
	Marks      bool            `json:"marks"`
	Date       time.Time       `json:"date"`
	Score      float64         `json:"score"`
	Passed     int             `json:"passed"`
	Failed     int             `json:"failed"`
	Skipped    int             `json:"skipped"`
	NotOffered int             `json:"not_offered"`
	Results    []jsonResult    `json:"results"`
}

type jsonModels struct {
	Text      string `json:"text,omitempty"`
	Embedding string `json:"embedding,omitempty"`
	Image     string `json:"image,omitempty"`
	Vision    string `json:"vision,omitempty"`
}

type jsonResult struct {
	Name     string              `json:"name"`
	About    string              `json:"about"`
	Outcome  conformance.Outcome `json:"outcome"`
	Known    bool                `json:"known,omitzero"` // the baseline has it
	Reason   string              `json:"reason,omitempty"`
	Seconds  float64             `json:"seconds"`
	Link     string              `json:"link,omitempty"`
	Failures []jsonFailure       `json:"failures,omitempty"`
}

type jsonFailure struct {
	Message  string `json:"message"`
	Document string `json:"document,omitempty"`
	Curl     string `json:"curl,omitempty"`
	Status   string `json:"status,omitempty"`
	Reply    string `json:"reply,omitempty"`
	Stack    string `json:"stack,omitempty"`
}

// JSON writes the summary as one JSON object.
func (s Summary) JSON(w io.Writer) error {
	out := jsonSummary{
		Server: s.Server, Models: jsonModels(s.Models), Profile: s.Profile, Marks: s.Marks, Date: s.Date, Score: s.Score(),
		Passed: s.Count(conformance.Pass), Failed: s.Count(conformance.Fail),
		Skipped: s.Count(conformance.Skipped), NotOffered: s.Count(conformance.NotOffered),
	}
	for _, r := range s.Results {
		_, known := s.Baseline[r.Name]
		result := jsonResult{
			Name: r.Name, About: r.About, Outcome: r.Outcome, Known: known, Reason: s.reason(r.Reason),
			Seconds: r.Duration.Seconds(), Link: s.Link(r.Scenario),
		}
		for _, f := range r.Failures {
			result.Failures = append(result.Failures, jsonFailure(s.show(f, jsonBody)))
		}
		out.Results = append(out.Results, result)
	}
	return json.MarshalWrite(w, out, jsontext.WithIndent("  "))
}
