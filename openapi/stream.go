package openapi

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"mime"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

const (
	// eventNameExtension names an event of a stream's itemSchema.
	eventNameExtension = "x-event-name"
	// eventSequenceExtension is a regular expression over those names, each
	// followed by a space, that the whole stream matches.
	eventSequenceExtension = "x-event-sequence"
)

// Stream is the contract of an event stream: its events and their order.
type Stream struct {
	Sequence string // a regular expression over names, each followed by a space
	Written  string // the same in the document, with withheld events
	Events   []Use  // each with its EventName

	sequence *regexp.Regexp
}

func compileStream(media *openapi3.MediaType, c *compiler) (*Stream, error) {
	use, err := c.use(media.ItemSchema)
	if err != nil {
		return nil, err
	}
	s := &Stream{Events: use.Schema.Union}
	if len(s.Events) == 0 {
		s.Events = []Use{use}
	}
	for _, event := range s.Events {
		if event.EventName == "" {
			return nil, fmt.Errorf("line %d: event without %s", event.Line, eventNameExtension)
		}
	}
	s.Sequence, _ = media.Extensions[eventSequenceExtension].(string)
	if s.Sequence == "" {
		return nil, fmt.Errorf("event stream without %s", eventSequenceExtension)
	}
	s.Written = s.Sequence
	for _, event := range s.Events {
		if event.withheld {
			s.Sequence = regexp.MustCompile(`\b`+regexp.QuoteMeta(event.EventName)+` `).ReplaceAllString(s.Sequence, "")
		}
	}
	if s.sequence, err = regexp.Compile(`\A(?:` + s.Sequence + `)\z`); err != nil {
		return nil, fmt.Errorf("%s: %w", eventSequenceExtension, err)
	}
	return s, nil
}

// StreamChecker checks one event stream against its contract, frame by frame.
type StreamChecker struct {
	stream *Stream
	names  strings.Builder
	frames int
}

// NewChecker returns a checker for one stream.
func (s *Stream) NewChecker() *StreamChecker { return &StreamChecker{stream: s} }

// Frame checks the next frame, given by its event name (empty where it has
// none) and its data. The error says which frame it is and what is wrong.
func (c *StreamChecker) Frame(event, data string) error {
	text := []byte(`{`)
	if event != "" {
		text = append(text, `"event":`...)
		text, _ = jsontext.AppendQuote(text, event) // bad Unicode becomes U+FFFD
		text = append(text, ',')
	}
	text = append(text, `"data":`...)
	text, _ = jsontext.AppendQuote(text, data)
	text = append(text, '}')
	c.frames++

	var worst *Violation
	for i := range c.stream.Events {
		t, v := parse(text, unbounded)
		if v == nil {
			_, v = t.check(&c.stream.Events[i])
		}
		if v == nil {
			c.names.WriteString(c.stream.Events[i].EventName + " ")
			return nil
		}
		if v.better(worst) {
			worst = v
		}
	}
	c.names.WriteString("? ")
	return fmt.Errorf("frame %d (event %q): %w", c.frames-1, event, worst)
}

// End checks the order of the whole stream.
func (c *StreamChecker) End() error {
	names := c.names.String()
	if c.stream.sequence.MatchString(names) {
		return nil
	}
	return fmt.Errorf("the events %q do not match %q", names, c.stream.Sequence)
}

// Reply returns the contract of a reply by status and Content-Type.
func (o *Operation) Reply(status int, contentType string) (*Reply, error) {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, fmt.Errorf("content type %q: %w", contentType, err)
	}
	known := false
	for i := range o.Replies {
		r := &o.Replies[i]
		if known = known || r.Status == status; r.Status == status && r.MediaType == mediaType {
			return r, nil
		}
	}
	if !known {
		return nil, fmt.Errorf("%s does not answer with status %d", o.ID, status)
	}
	return nil, fmt.Errorf("%s does not answer %d with %s", o.ID, status, mediaType)
}

// CheckReply checks a JSON reply against the closed document: unknown fields fail, and so
// do fields that are marked as never sent.
func (o *Operation) CheckReply(status int, contentType string, body []byte) error {
	r, err := o.Reply(status, contentType)
	if err != nil {
		return err
	}
	if r.Body == nil {
		return errors.New("this reply is a stream; check it frame by frame")
	}
	t, v := parse(body, unbounded)
	if v == nil {
		_, v = t.check(r.Body)
	}
	if v != nil {
		return fmt.Errorf("%s %d: %w", o.ID, status, v)
	}
	return nil
}
