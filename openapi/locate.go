package openapi

import (
	"strconv"
	"strings"
)

// skip is an array item that was removed.
type skip struct {
	array string // path of the array in the client's body, with slashes
	index int
}

// groupByArray lists the removed items of each array, in order.
func groupByArray(skips []skip) map[string][]int {
	var by map[string][]int
	for _, s := range skips {
		if by == nil {
			by = map[string][]int{}
		}
		by[s.array] = append(by[s.array], s.index)
	}
	return by
}

// Locate translates a path in Body into the path in the client's body, where removed array
// items still count. It reads the formats of [Violation.Param] and [Violation.Path], and
// keeps what follows the names of the document.
func (c Checked) Locate(path string) string {
	if len(c.skipped) == 0 {
		return path
	}
	var out, array strings.Builder
	for rest := path; rest != ""; {
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

// unskip returns the client's index of an item.
func unskip(index int, skipped []int) int {
	for _, s := range skipped {
		if s > index {
			break
		}
		index++
	}
	return index
}
