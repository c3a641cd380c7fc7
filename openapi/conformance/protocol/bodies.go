package protocol

import (
	"encoding/json/v2"
	"net/http"
	"strconv"
	"strings"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

func itoa(n int) string { return strconv.Itoa(n) }

// bodies are scenarios of requests whose body is wrong as a whole.
func (s side) bodies(o *openapi.Operation) []conformance.Scenario {
	post := func(text string) conformance.Request { return conformance.Request{Path: o.Path, Body: text} }
	refused := func(promise, about, text string) conformance.Scenario {
		return s.scenario(o, promise, about, func(t *conformance.Trial) { s.expectError(t, t.Do(post(text)), 400) })
	}
	return []conformance.Scenario{
		refused("body-not-json", "A body that is not JSON is a 400 in the envelope of the style.", "{not json"),
		refused("body-cut-off", "JSON that is cut off is a 400 in the envelope of the style.", `{"model": "m", "messages": [`),
		refused("body-no-object", "A body that is no JSON object is a 400 in the envelope of the style.", `[1, 2]`),
		refused("body-empty", "An empty body is a 400 in the envelope of the style.", ""),
		refused("body-not-utf8", "A body that is not UTF-8 is a 400 in the envelope of the style.", "{\"model\": \"\xff\xfe\"}"),
		s.scenario(o, "body-nested-deeply", "A body of ten thousand nested arrays is a 4xx in the envelope of the style.", func(t *conformance.Trial) {
			x := t.Do(post(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)))
			s.expectError(t, x, 400, 413)
		}),
		s.scenario(o, "body-trailing", "A second JSON value behind the body is a 400.", func(t *conformance.Trial) {
			s.expectError(t, t.Do(post(encode(body(t, o))+"{}")), 400)
		}),
		s.scenario(o, "body-with-blanks", "Blanks around the body and a charset in its media type change nothing.", func(t *conformance.Trial) {
			r := post(" \n\t" + encode(body(t, o)) + "\r\n ")
			r.Header = http.Header{"Content-Type": {"application/json; charset=utf-8"}}
			t.OK(r)
		}),
		s.scenario(o, "body-too-large", "A body larger than the server takes is a 413, and one that it takes is none.", func(t *conformance.Trial) {
			s.tooLarge(t, o)
		}),
		s.scenario(o, "body-of-another-type", "A body of another media type is a 415 or another 4xx, or is read as JSON.", func(t *conformance.Trial) {
			r := post(encode(body(t, o)))
			r.Header = http.Header{"Content-Type": {"text/plain"}}
			switch x := t.Do(r); {
			case t.Marks:
				s.expectError(t, x, 415)
			case x.Status/100 == 4:
				s.expectEnvelope(t, x)
			case x.Status != http.StatusOK:
				t.Errorf(x, "status %d, want 415", x.Status)
			}
		}),
		s.scenario(o, "fields-twice", "A body in which a field comes twice is a 400, or its last value counts.", func(t *conformance.Trial) {
			text := encode(body(t, o))
			x := t.Do(post(`{"model":"no-such-model",` + text[1:]))
			if x.Status != http.StatusOK || t.Marks {
				s.expectError(t, x, 400)
			}
		}),
	}
}

// tooLarge sends bodies that grow eightfold until the server refuses one for its size.
func (s side) tooLarge(t *conformance.Trial, o *openapi.Operation) {
	for size := 1 << 20; size <= 64<<20; size *= 8 {
		object := body(t, o)
		object["not_in_the_document"] = strings.Repeat("a", size)
		x, err := t.Try(conformance.Request{Path: o.Path, Body: object})
		if err != nil {
			t.Skipf("the connection ends while %d MiB are sent: %v", size>>20, err)
		}
		switch {
		case x.Status == http.StatusRequestEntityTooLarge:
			s.expectEnvelope(t, x)
			return
		case x.Status >= 500:
			t.Fatalf(x, "status %d for a body of %d MiB, want 413", x.Status, size>>20)
		}
	}
	t.Skipf("the server takes bodies of 64 MiB")
}

func encode(object map[string]any) string {
	text, err := json.Marshal(object, json.Deterministic(true))
	if err != nil {
		return "{}"
	}
	return string(text)
}
