package handlerstest

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// Bind decodes and maps a valid body.
type Bind func(body []byte) (*engine.Request, error)

// Checked returns a request as an engine gets it. The path of an error is the style's.
func Checked(req *engine.Request, err error, name func(engine.Place) string) (*engine.Request, error) {
	if err == nil {
		err = req.Check()
	}
	if err == nil {
		return req, nil
	}
	if coded := (*engine.Error)(nil); errors.As(err, &coded) && coded.Param == "" {
		coded.Param = name(coded.Place)
	}
	return nil, err
}

// Mapping is a body with the expected request, or with the parameter that the error names.
type Mapping struct {
	Name, Body string
	Want       engine.Request
	Param      string // if set, Want is not compared
}

// CheckMappings tests each mapping.
func CheckMappings(t *testing.T, load func() (*openapi.Document, error), id string, bind Bind, tests []Mapping) {
	t.Helper()
	operation := operation(t, load, id)
	for _, tt := range tests {
		t.Run(tt.Name, func(t *testing.T) {
			checked, v := operation.Check([]byte(tt.Body))
			if v != nil {
				t.Fatal(v)
			}
			got, err := bind(checked.Body)
			if coded := (*engine.Error)(nil); tt.Param != "" {
				if !errors.As(err, &coded) || coded.Code != engine.CodeInvalidArgument || coded.Param != tt.Param {
					t.Errorf("error %v, want one at %s", err, tt.Param)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.Want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// FuzzRequest checks that each body that passes the document can be bound, and is mapped
// without a panic to a valid request or to an error with a code.
func FuzzRequest(f *testing.F, load func() (*openapi.Document, error), id string, body []byte, bind Bind) {
	operation := operation(f, load, id)
	f.Add(body)
	for _, example := range operation.Examples {
		f.Add([]byte(example))
	}
	cases, err := conformance.Cases(operation)
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range cases {
		f.Add(c.Body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		checked, v := operation.Check(body)
		if v != nil {
			return
		}
		req, err := bind(checked.Body)
		if coded := (*engine.Error)(nil); err != nil && !errors.As(err, &coded) {
			t.Fatalf("passed the document and cannot be mapped: %v", err)
		}
		if err == nil && (len(req.Messages) == 0 && req.Prompt == nil || req.Choices < 1) {
			t.Errorf("a request without messages, prompt or choices: %+v", req)
		}
	})
}

// BenchmarkRequest compares all processing of a body before the engine with decoding it
// into any. It should cost at most five times as much.
func BenchmarkRequest(b *testing.B, load func() (*openapi.Document, error), id string, body []byte, bind Bind) {
	operation := operation(b, load, id)
	b.Run("unmarshal into any", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			var v any
			if err := json.Unmarshal(body, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("check, bind and map", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			checked, v := operation.Check(body)
			if v != nil {
				b.Fatal(v)
			}
			if _, err := bind(checked.Body); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func operation(t testing.TB, load func() (*openapi.Document, error), id string) *openapi.Operation {
	t.Helper()
	document, err := load()
	if err != nil {
		t.Fatal(err)
	}
	o, ok := document.Operation(id)
	if !ok {
		t.Fatalf("the document has no operation %s", id)
	}
	return o
}
