package reference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi"
)

// Reply is what is answered with one status and media type.
type Reply struct {
	openapi.Reply
	Type   string // of the body; empty: none
	Fields []*Field
	Events []Event
}

// Event is one event of a stream.
type Event struct {
	Name, Description, Anchor string
	Place                     Place
	Support                   Support
	Fields                    []*Field
}

// Header is a header of replies.
type Header struct {
	Name, Type, Description string
	Required                bool
	In                      string // statuses of the replies
}

func repliesOf(o *openapi.Operation, parts map[string][]*Field) ([]Reply, error) {
	var replies []Reply
	for _, in := range o.Replies {
		if len(in.Errors) > 0 {
			continue
		}
		r := Reply{Reply: in}
		if in.Body != nil {
			r.Type, r.Fields = in.Body.Schema.TypeText(), parts[fmt.Sprintf("reply %d", in.Status)]
		}
		if in.Stream != nil {
			places, err := placesOf(in.Stream.Sequence)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", o.ID, err)
			}
			for _, e := range in.Stream.Events {
				part := "event " + e.EventName
				r.Events = append(r.Events, Event{
					Name: e.EventName, Description: e.Description, Anchor: Anchor(part, ""), Place: places[e.EventName],
					Support: supportOf(e.Mark, true), Fields: withoutOwnMark(parts[part]),
				})
			}
		}
		replies = append(replies, r)
	}
	listOnce(replies)
	return replies, nil
}

// withoutOwnMark leaves out the row that marks the event as a whole.
func withoutOwnMark(fields []*Field) []*Field {
	if len(fields) > 0 && strings.HasPrefix(fields[0].Field, "[event=") {
		return fields[1:]
	}
	return fields
}

// headersOf lists each header once for the statuses that always have it, and once for
// those that may.
func headersOf(replies []openapi.Reply) []Header {
	statuses := map[Header][]string{}
	var all []string
	for _, r := range replies {
		status := fmt.Sprint(r.Status)
		if slices.Contains(all, status) {
			continue // another media type of the same status
		}
		all = append(all, status)
		for _, h := range r.Headers {
			row := Header{Name: h.Name, Type: h.Schema.TypeText(), Description: h.Description, Required: h.Required}
			statuses[row] = append(statuses[row], status)
		}
	}
	var rows []Header
	for row, in := range statuses {
		row.In = strings.Join(in, ", ")
		if len(in) == len(all) {
			row.In = "all"
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b Header) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.In, b.In))
	})
	return rows
}
