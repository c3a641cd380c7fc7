package modelfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// read parses the value of a parameter. Errors end a sentence that starts with
// its name.
func (p parameter) read(text string) (any, error) {
	switch p.kind {
	case whole:
		n, err := readWhole(text)
		if err != nil {
			return nil, err
		}
		return n, p.inRange(float64(n))
	case number:
		f, err := p.readNumber(text)
		if err != nil {
			return nil, err
		}
		return f, nil
	case numbers:
		return p.readNumbers(strings.Fields(text))
	case truth:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%s is neither true nor false", shown(text))
		}
		return b, nil
	case word:
		if text = strings.TrimSpace(text); text == "" {
			return nil, errors.New("the value is empty")
		}
		return text, nil
	case line:
		switch text = strings.TrimSpace(text); {
		case text == "":
			return nil, errors.New("the value is empty")
		case len(text) > maxLine:
			return nil, fmt.Errorf("a value of %d bytes is longer than %d", len(text), maxLine)
		}
		return text, nil
	case choice:
		if text = strings.TrimSpace(text); !slices.Contains(p.names, text) {
			return nil, fmt.Errorf("%s is none of %s", shown(text), strings.Join(p.names, ", "))
		}
		return text, nil
	case header:
		return text, checkHeader(text)
	}
	return p.readTexts([]string{text})
}

func (p parameter) readNumber(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("%s is not a number", shown(text))
	}
	return f, p.inRange(f)
}

// maxNumbers bounds a list of numbers.
const maxNumbers = 256

func (p parameter) readNumbers(words []string) (any, error) {
	switch {
	case len(words) == 0:
		return nil, errors.New("the value is empty")
	case len(words) > maxNumbers:
		return nil, fmt.Errorf("%d numbers are more than %d", len(words), maxNumbers)
	}
	var all []float64
	for _, w := range words {
		f, err := p.readNumber(w)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

func (p parameter) readTexts(values []string) (any, error) {
	if len(values) > maxStops {
		return nil, fmt.Errorf("%d values are more than %d", len(values), maxStops)
	}
	for _, v := range values {
		if v == "" {
			return nil, errors.New("the value is empty")
		}
		if len(v) > maxStop {
			return nil, fmt.Errorf("a value of %d bytes is longer than %d", len(v), maxStop)
		}
	}
	return values, nil
}

// readWhole also accepts 4096.0 and 4e3, which some programs write.
func readWhole(text string) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	const exact = 1 << 53 // above, floats skip whole numbers
	if f, err := strconv.ParseFloat(text, 64); err == nil && f == math.Trunc(f) && math.Abs(f) <= exact {
		return int64(f), nil
	}
	return 0, fmt.Errorf("%s is not a whole number", shown(text))
}

func (p parameter) inRange(f float64) error {
	if f < p.min || f > p.max {
		return fmt.Errorf("%s is not between %s and %s", plain(f), plain(p.min), plain(p.max))
	}
	return nil
}

func plain(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// readJSON parses the value of a parameter in a layer. Some programs quote
// numbers, or write a single text without an array.
func (p parameter) readJSON(raw json.RawMessage) (any, error) {
	if p.kind == texts {
		var values []string
		if json.Unmarshal(raw, &values) == nil {
			return p.readTexts(without(values, ""))
		}
	}
	if p.kind == numbers {
		var values []json.Number
		if json.Unmarshal(raw, &values) == nil {
			var words []string
			for _, v := range values {
				words = append(words, v.String())
			}
			return p.readNumbers(words)
		}
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return p.read(text)
	}
	if p.kind == texts || p.kind == word || p.kind == line || p.kind == choice || p.kind == header {
		return nil, fmt.Errorf("%s is not text", shown(string(raw)))
	}
	return p.read(string(raw))
}

func without(values []string, unwanted string) []string {
	kept := make([]string, 0, len(values))
	for _, v := range values {
		if v != unwanted {
			kept = append(kept, v)
		}
	}
	return kept
}

// text is the inverse of read, with one text per line.
func (p parameter) text(value any) []string {
	switch v := value.(type) {
	case []string:
		return v
	case []float64:
		var words []string
		for _, f := range v {
			words = append(words, strconv.FormatFloat(f, 'g', -1, 64))
		}
		return []string{strings.Join(words, " ")}
	case float64:
		return []string{strconv.FormatFloat(v, 'g', -1, 64)}
	}
	return []string{fmt.Sprint(value)}
}
