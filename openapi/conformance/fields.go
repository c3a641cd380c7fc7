package conformance

import (
	"bytes"
	"cmp"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"net/http"
	"regexp"
	"slices"

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

// Plain is a valid request of an operation, as plain as it can be, with the target's model and
// a bound on what it generates; nil if the profile refuses all examples.
func (t *Target) Plain(o *openapi.Operation) map[string]any {
	own := slices.SortedStableFunc(slices.Values(o.Examples), func(a, b jsontext.Value) int { return len(a) - len(b) })
	all := examplesOf(o.ID)
	for _, example := range own {
		all = append(all, example)
	}
	for _, example := range all {
		if object := t.acceptable(o, example); object != nil {
			return object
		}
	}
	return nil
}

// acceptable is an example with the target's model and a bound; nil if the profile refuses it,
// or if it has an image and no model of the target sees.
func (t *Target) acceptable(o *openapi.Operation, example []byte) map[string]any {
	text := t.affordable(o, t.named(o, example), nil, sampleTokens)
	var object map[string]any
	if _, v := o.Check(text); v != nil || json.Unmarshal(text, &object) != nil {
		return nil
	}
	if hasImage(text) {
		if t.Models.Vision == "" {
			return nil
		}
		object["model"] = t.Models.Vision
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
			Run:       func(t *Trial) { t.runCases(o, list) },
		})
	}
	return all, nil
}
