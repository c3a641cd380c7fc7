package media

import (
	"bytes"
	"encoding/json/v2"
	"fmt"
	"strings"

	"github.com/diglot/diglot/openapi/conformance"
)

// imageEvent is an event of a stream of images.
type imageEvent struct {
	Type  string `json:"type"`
	B64   string `json:"b64_json"`
	Size  string `json:"size"`
	Index int    `json:"partial_image_index"`

	file []byte
}

// finished reports whether it is a whole image.
func (e imageEvent) finished() bool { return e.Type == "image_generation.completed" }

// watch asks for a stream of images and decodes it. Other frames are judged by the document.
func watch(t *conformance.Trial, fields map[string]any) ([]imageEvent, *conformance.Exchange) {
	x := t.Do(drawing(t, fields))
	switch {
	case x.Status == 400 && !t.Marks && bytes.Contains(x.Body, []byte("stream")):
		t.NotOfferedf("the server refuses stream: %s", x.Body)
	case x.Status != 200:
		t.Fatalf(x, "status %d, want 200", x.Status)
	case !strings.HasPrefix(x.Header.Get("Content-Type"), "text/event-stream"):
		t.Fatalf(x, "the type %q, want an event stream", x.Header.Get("Content-Type"))
	}
	frames, _ := x.Frames()
	var events []imageEvent
	for i, f := range frames {
		var e imageEvent
		if json.Unmarshal([]byte(f.Data), &e) != nil || e.B64 == "" {
			continue
		}
		config, file := decodeFile(t, x, fmt.Sprintf("the image of event %d", i), e.B64)
		if got := fmt.Sprintf("%dx%d", config.Width, config.Height); e.Size != "auto" && e.Size != got {
			t.Errorf(x, "an image of %s in event %d, which says %q", got, i, e.Size)
		}
		e.file = file
		events = append(events, e)
	}
	return events, x
}

// drawingStreams are scenarios of images that come as events.
func drawingStreams() []conformance.Scenario {
	return []conformance.Scenario{
		drawn("stream", "A stream has one completed event per image, and no others unless they are asked for.", func(t *conformance.Trial) {
			events, x := watch(t, map[string]any{"stream": true, "n": 2})
			if len(events) != 2 || !events[0].finished() || !events[1].finished() {
				t.Errorf(x, "the events %v, want 2 completed ones", kinds(events))
			} else if bytes.Equal(events[0].file, events[1].file) {
				t.Errorf(x, "both images are the same")
			}
		}),
		drawn("stream-partial", "Partial images are numbered from 0, at most as many as asked for, before the whole one.", func(t *conformance.Trial) {
			const most = 2
			events, x := watch(t, map[string]any{"stream": true, "partial_images": most})
			last := len(events) - 1
			if last < 0 || !events[last].finished() {
				t.Fatalf(x, "the events %v, want a completed one at the end", kinds(events))
			}
			if last > most {
				t.Errorf(x, "%d partial images, want at most %d", last, most)
			}
			for i, e := range events[:last] {
				switch {
				case e.finished():
					t.Errorf(x, "the events %v, want one completed one", kinds(events))
				case e.Index != i:
					t.Errorf(x, "the number %d of a partial image, want %d", e.Index, i)
				}
			}
		}),
	}
}

func kinds(events []imageEvent) []string {
	var all []string
	for _, e := range events {
		all = append(all, e.Type)
	}
	return all
}
