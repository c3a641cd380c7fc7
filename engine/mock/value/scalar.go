package value

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// samples are texts of the formats of JSON Schema.
var samples = map[string]string{
	"date":                  "2026-01-02",
	"time":                  "10:30:00Z",
	"date-time":             "2026-01-02T10:30:00Z",
	"duration":              "P1D",
	"uuid":                  "123e4567-e89b-42d3-a456-426614174000",
	"email":                 "user@example.com",
	"idn-email":             "user@example.com",
	"hostname":              "example.com",
	"idn-hostname":          "example.com",
	"ipv4":                  "192.0.2.1",
	"ipv6":                  "2001:db8::1",
	"uri":                   "https://example.com/",
	"url":                   "https://example.com/",
	"iri":                   "https://example.com/",
	"uri-reference":         "/path",
	"iri-reference":         "/path",
	"uri-template":          "/path/{id}",
	"json-pointer":          "/path",
	"relative-json-pointer": "0",
	"regex":                 "a+",
	"byte":                  "aGVsbG8=",
}

// maxText limits a written string, in characters.
const maxText = 4096

// texts are strings to try, in order. A string without a better idea says its own name;
// those of later items are numbered.
func (h hints) texts(name string, turn int) []string {
	var all []string
	for _, f := range h.said("format") {
		if s := samples[f]; s != "" {
			all = append(all, numbered(s, turn))
		}
	}
	if name == "" {
		name = "text"
	}
	if turn > 0 {
		name += " " + strconv.Itoa(turn+1)
	}
	least, most := int(min(h.most("minLength", 0), maxText)), int(min(h.least("maxLength", maxText), maxText))
	all = append(all, fitted(name, least, most))
	if least != most {
		all = append(all, fitted(name, most, most), fitted(name, 1, 1))
	}
	return all
}

// numbered is a sample for a later item, other than the first one's where that is easy.
func numbered(s string, turn int) string {
	n := strconv.Itoa(turn + 1)
	switch {
	case turn == 0:
		return s
	case strings.HasPrefix(s, "user@"):
		return strings.Replace(s, "user", "user"+n, 1)
	case strings.Contains(s, "/"):
		return s + n
	case turn < 28 && strings.HasPrefix(s, "2026-01-02"):
		return strings.Replace(s, "-02", fmt.Sprintf("-%02d", turn+2), 1)
	}
	return s
}

// fitted makes a text of least to most characters.
func fitted(s string, least, most int) string {
	runes := []rune(s)
	if len(runes) < least && least <= maxText {
		runes = []rune(strings.Repeat(s+" ", least/max(len(runes), 1)+1))[:max(least, 0)]
	}
	return string(runes[:max(0, min(len(runes), most))])
}

// numbers are numbers to try, in order.
func (h hints) numbers(turn int) []string {
	low := max(h.most("minimum", math.Inf(-1)), h.most("exclusiveMinimum", math.Inf(-1)))
	high := min(h.least("maximum", math.Inf(1)), h.least("exclusiveMaximum", math.Inf(1)))
	by := float64(turn)
	all := []float64{1 + by}
	for _, n := range h.nodes {
		if step, ok := n.get("multipleOf").number(); ok && step > 0 {
			from := max(0, math.Ceil(low/step))
			all = slices.Concat([]float64{step * (max(1, from) + by), step * (from + by), step * (from + 1 + by), step * (math.Floor(high/step) - by)}, all)
		}
	}
	all = append(all, by, math.Ceil(low)+by, math.Floor(low)+1+by, math.Floor(high)-by, math.Ceil(high)-1-by)
	all = append(all, low+by/16, high-by/16, (low+high)/2, low+0.5, high-0.5, low+0.001, -1-by)
	var texts []string
	for _, x := range all {
		if math.Abs(x) < 1e15 { // infinite bounds are none
			texts = append(texts, strconv.FormatFloat(x, 'f', -1, 64))
		}
	}
	return texts
}
