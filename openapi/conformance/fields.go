package conformance

import (
	"bytes"
	"cmp"
	"encoding/json/v2"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi"
)

// Generated makes the scenarios that follow from the documents alone: for each operation
// its examples, the support of each field of its requests, and each aspect of its replies.
func (t *Target) Generated() ([]Scenario, error) {
	var all []Scenario
	for _, style := range []Style{OpenAI, Anthropic} {
		for _, o := range t.Document(style).Operations() {
			if o.Mark.Server == openapi.SupportRefused {
				continue
			}
			if o.Body != nil {
				all = append(all, t.samples(style, o))
				fields, err := t.fields(style, o)
				if err != nil {
					return nil, err
				}
				all = append(all, fields...)
			}
			all = append(all, watchers(style, o)...)
		}
	}
	return all, nil
}

// NeedOf is what requests of an operation need.
func NeedOf(o *openapi.Operation) Need {
	switch Subject(o) {
	case "embeddings":
		return NeedEmbedding
	case "images":
		return NeedImage
	case "models", "models-retrieve":
		return NeedNothing
	}
	return NeedText
}

// modelFor returns the model that an operation's requests name.
func (t *Target) modelFor(o *openapi.Operation) string {
	switch NeedOf(o) {
	case NeedEmbedding:
		return t.Models.Embedding
	case NeedImage:
		return t.Models.Image
	}
	return t.Models.Text
}

// samples is the scenario of the document's own examples.
func (t *Target) samples(style Style, o *openapi.Operation) Scenario {
	return Scenario{
		Name:      fmt.Sprintf("%s/%s/examples", style, Subject(o)),
		About:     "Every example of a request in the document is answered.",
		Operation: o.ID,
		Needs:     NeedOf(o),
		Run: func(t *Trial) {
			for _, example := range o.Examples {
				t.sample(o, example)
			}
		},
	}
}

const (
	sampleTokens = 16 // that the answer to an example may have
	fieldTokens  = 2  // that the answer to a case may have: its text does not matter
)

func (t *Trial) sample(o *openapi.Operation, example []byte) {
	body := t.affordable(o, t.named(o, example), nil, sampleTokens)
	if hasImage(body) {
		if t.Models.Vision == "" {
			return
		}
		body = edited(body, func(object map[string]any) { object["model"] = t.Models.Vision })
	}
	if _, v := o.Check(body); v != nil {
		return // this profile refuses it
	}
	x := t.Do(Request{Path: o.Path, Body: body})
	if x.Status != http.StatusOK && !lacks(x, "suffix") {
		t.Errorf(x, "status %d for an example of the document, want 200", x.Status)
	}
}

// hasImage reports whether a request has an image, for which a model needs vision.
func hasImage(body []byte) bool { return image.Match(body) }

var image = regexp.MustCompile(`"type":"(image|image_url|input_image)"`)

// lacks reports whether a request was refused because of a field that not every model can
// serve, such as the text behind the one that is to be filled in.
func lacks(x *Exchange, field string) bool {
	return x.Status == http.StatusBadRequest && bytes.Contains(x.Request, []byte(`"`+field+`":`)) && names(x.Body, []string{field})
}

// named puts the target's model into a body.
func (t *Target) named(o *openapi.Operation, body []byte) []byte {
	return edited(body, func(object map[string]any) {
		if _, ok := object["model"].(string); ok {
			object["model"] = t.modelFor(o)
		}
	})
}

// Affordable is an example of a request with the target's model and a bound on what it
// generates; nil if the profile refuses it.
func (t *Target) Affordable(o *openapi.Operation, example []byte) map[string]any {
	text := t.affordable(o, t.named(o, example), nil, sampleTokens)
	var object map[string]any
	if _, v := o.Check(text); v != nil || json.Unmarshal(text, &object) != nil {
		return nil
	}
	return object
}

// limits are the fields that bound what a request generates, and costs.
var limits = []string{"max_completion_tokens", "max_output_tokens", "max_tokens"}

// affordable bounds what a body generates, unless the value at the pointer is the limit.
func (t *Target) affordable(o *openapi.Operation, body []byte, pointer []string, most float64) []byte {
	if len(pointer) > 0 && slices.Contains(limits, pointer[0]) {
		return body
	}
	return edited(body, func(object map[string]any) {
		given := false
		for _, name := range limits {
			if n, ok := object[name].(float64); ok {
				object[name], given = min(n, most), true
			}
		}
		for _, name := range limits {
			if _, ok := o.Body.Schema.Property(name); ok && !given {
				object[name], given = most, true
			}
		}
	})
}

// unlimited reports whether a body says that it has no limit.
func unlimited(body []byte) bool {
	var object map[string]any
	if json.Unmarshal(body, &object) != nil {
		return false
	}
	none := false
	for _, name := range limits {
		value, given := object[name]
		if value != nil {
			return false
		}
		none = none || given
	}
	return none
}

// edited changes a JSON object; what is none stays as it is.
func edited(body []byte, change func(map[string]any)) []byte {
	var object map[string]any
	if json.Unmarshal(body, &object) != nil || object == nil {
		return body
	}
	change(object)
	text, err := json.Marshal(object, json.Deterministic(true))
	if err != nil {
		return body
	}
	return text
}

// fields makes one scenario for each field of an operation's requests.
func (t *Target) fields(style Style, o *openapi.Operation) ([]Scenario, error) {
	cases, err := Cases(o, examplesOf(o.ID)...)
	if err != nil {
		return nil, err
	}
	var order []string
	byField := map[string][]Case{}
	for _, c := range cases {
		if byField[c.Field] == nil {
			order = append(order, c.Field)
		}
		byField[c.Field] = append(byField[c.Field], c)
	}
	var all []Scenario
	for _, field := range order {
		list := byField[field]
		all = append(all, Scenario{
			Name:      fmt.Sprintf("%s/%s/field/%s", style, Subject(o), cmp.Or(field, "body")),
			About:     "Each value of the field is accepted or refused as the document says.",
			Operation: o.ID,
			Needs:     NeedOf(o),
			Run: func(t *Trial) {
				for _, c := range list {
					t.runCase(o, c)
				}
			},
		})
	}
	return all, nil
}

func (t *Trial) runCase(o *openapi.Operation, c Case) {
	body := c.Body
	if len(c.Pointer) == 0 || c.Pointer[0] != "model" {
		body = t.named(o, body)
	}
	body = t.affordable(o, body, c.Pointer, fieldTokens)
	if c.Want == WantNothing && unlimited(body) {
		return // it would be answered until the context is full
	}
	x := t.Do(Request{Path: o.Path, Body: body})
	document := fmt.Sprintf("%s: %s", c.Name, c.wanted(t.Marks))
	switch {
	case x.Status >= 500:
		t.fail(Failure{Message: fmt.Sprintf("%s: status %d", c.Name, x.Status), Document: document, Exchange: x})
	case c.Want == WantInvalid && x.Status == http.StatusBadRequest:
		if !names(x.Body, c.Pointer) {
			t.fail(Failure{Message: fmt.Sprintf("%s: the error does not name %s", c.Name, path(c.Pointer)), Document: document, Exchange: x})
		}
	case c.Want == WantInvalid && (x.Status != http.StatusOK || c.must(t.Marks)):
		t.fail(Failure{Message: fmt.Sprintf("%s: status %d, want 400", c.Name, x.Status), Document: document, Exchange: x})
	case c.Want != WantInvalid && x.Status != http.StatusOK:
		if c.must(t.Marks) && t.accepts(o, c.Base) {
			t.fail(Failure{Message: fmt.Sprintf("%s: status %d, want 200", c.Name, x.Status), Document: document, Exchange: x})
		}
	case c.Want == WantIgnored && t.Marks:
		if got := x.Header.Get("Diglot-Ignored"); !strings.Contains(", "+got+",", ", "+c.Ignored+",") {
			t.fail(Failure{Message: fmt.Sprintf("%s: Diglot-Ignored is %q, want %q in it", c.Name, got, c.Ignored), Document: document, Exchange: x})
		}
	}
}

// accepts reports whether the server answers a body: one that needs what the model lacks is
// refused without the odd value too.
func (t *Trial) accepts(o *openapi.Operation, body []byte) bool {
	if body == nil {
		return true
	}
	return t.Do(Request{Path: o.Path, Body: t.affordable(o, t.named(o, body), nil, fieldTokens)}).Status == http.StatusOK
}

// must reports whether the case binds a server, given whether the support marks are its own.
func (c Case) must(marks bool) bool {
	switch {
	case marks:
		return true
	case c.Want == WantInvalid:
		return c.Rule != openapi.RuleRefused && c.Rule != openapi.RuleUnknown && !strings.Contains(c.Name, overLimit)
	}
	return c.Want == WantNothing && c.Nullable
}

func (c Case) wanted(marks bool) string {
	switch {
	case c.Want == WantInvalid && c.must(marks):
		return "400, and the error names " + path(c.Pointer)
	case c.Want == WantInvalid:
		return "200, or 400 and the error names " + path(c.Pointer)
	case c.Want == WantIgnored && marks:
		return "200, and Diglot-Ignored names " + c.Ignored
	}
	return "200"
}

func path(pointer []string) string {
	if len(pointer) == 0 {
		return "the body"
	}
	v := openapi.Violation{Pointer: pointer}
	return v.Param()
}

// names reports whether an error names the value at a pointer: by its path in param or in
// the message, or at least by the last name in that path.
func names(body []byte, pointer []string) bool {
	if len(pointer) == 0 {
		return true
	}
	v := openapi.Violation{Pointer: pointer}
	text := string(body)
	if strings.Contains(text, v.Param()) || strings.Contains(text, v.Path()) {
		return true
	}
	for _, token := range slices.Backward(pointer) {
		if strings.Trim(token, "0123456789") != "" {
			return strings.Contains(text, token)
		}
	}
	return false
}
