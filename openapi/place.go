package openapi

import (
	"strconv"
	"strings"
)

// skip is an array item that was left out.
type skip struct {
	array string // pointer to the array in the client's body, its tokens with slashes between them
	index int
}

// bySkipped groups by array what was left out, in order.
func bySkipped(skips []skip) map[string][]int {
	var by map[string][]int
	for _, s := range skips {
		if by == nil {
			by = map[string][]int{}
		}
		by[s.array] = append(by[s.array], s.index)
	}
	return by
}

// Locate turns a place in Body into the same place in what the client sent,
// where array items without effect still count. It reads places as
// [Violation.Param] and [Violation.Path] write them, and leaves alone what
// follows behind the names of the document.
func (c Checked) Locate(place string) string {
	if len(c.skipped) == 0 {
		return place
	}
	var out, array strings.Builder
	for rest := place; rest != ""; {
		token, mark := rest, ""
		if i := strings.IndexAny(rest, ".[]"); i >= 0 {
			token, mark = rest[:i], rest[i:i+1]
		}
		rest = rest[len(token)+len(mark):]
		if index, err := strconv.Atoi(token); err == nil {
			token = strconv.Itoa(unskip(index, c.skipped[array.String()]))
		}
		if token != "" {
			if array.Len() > 0 {
				array.WriteByte('/')
			}
			array.WriteString(token)
		}
		out.WriteString(token + mark)
	}
	return out.String()
}

// unskip counts the items that were left out before an item.
func unskip(index int, skipped []int) int {
	for _, s := range skipped {
		if s > index {
			break
		}
		index++
	}
	return index
}
