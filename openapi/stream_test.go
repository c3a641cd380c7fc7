package openapi

import (
	"strings"
	"testing"
)

func TestStream(t *testing.T) {
	d := loadLetters(t)
	const open = `{"id":"l","text":"","signature":null}`
	type frame struct{ event, data string }
	tests := []struct {
		name, operation string
		frames          []frame
		want            string // in the first error; empty: none
	}{
		{"named", "writeLetter", []frame{{"open", open}, {"word", `{"word":"a","index":0}`}, {"close", `{"reason":"done"}`}}, ""},
		{"no word", "writeLetter", []frame{{"open", open}, {"close", `{"reason":"done"}`}}, ""},
		{"unknown event", "writeLetter", []frame{{"ping", `{}`}}, `frame 0 (event "ping"): event must be`},
		{"name left out", "writeLetter", []frame{{"", open}}, `frame 0 (event ""): `},
		{"member left out", "writeLetter", []frame{{"open", open}, {"word", `{"word":"a"}`}}, `frame 1 (event "word"): data.index is required`},
		{"member too many", "writeLetter", []frame{{"open", open}, {"word", `{"word":"a","index":0,"x":1}`}}, `frame 1 (event "word"): data.x is not known`},
		{"member that is never sent", "writeLetter", []frame{{"open", `{"id":"l","text":"","signature":null,"postscript":"p"}`}}, `data.postscript is not supported`},
		{"data is not JSON", "writeLetter", []frame{{"open", `{"id":`}}, `data ends too early`},
		{"order", "writeLetter", []frame{{"word", `{"word":"a","index":0}`}, {"open", open}}, `the events "word open " do not match`},
		{"no end", "writeLetter", []frame{{"open", open}}, `the events "open " do not match`},
		{"nothing", "writeLetter", nil, `the events "" do not match`},
		{"without names", "readLetter", []frame{{"", `{"word":"a","index":0}`}, {"", "[DONE]"}}, ""},
		{"without names, error at the end", "readLetter", []frame{{"", `{"word":"a","index":0}`}, {"", `{"error":{"type":"mistake","message":"broke"}}`}}, ""},
		{"without names, two ends", "readLetter", []frame{{"", `{"word":"a","index":0}`}, {"", "[DONE]"}, {"", "[DONE]"}}, `the events "chunk done done " do not match`},
		{"without names, deepest error", "readLetter", []frame{{"", `{"word":"a","index":-1}`}}, `data.index must be at least 0`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reply, err := operation(t, d, tt.operation).Reply(200, "text/event-stream; charset=utf-8")
			if err != nil {
				t.Fatal(err)
			}
			checker := reply.Stream.NewChecker()
			for _, f := range tt.frames {
				if err = checker.Frame(f.event, f.data); err != nil {
					break
				}
			}
			if err == nil {
				err = checker.End()
			}
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestCheckReply(t *testing.T) {
	o := operation(t, loadLetters(t), "writeLetter")
	tests := []struct {
		name        string
		status      int
		contentType string
		body        string
		want        string // in the error; empty: none
	}{
		{"right", 200, "application/json", `{"id":"l","text":"","signature":null}`, ""},
		{"with charset", 400, "application/json; charset=utf-8", `{"error":{"type":"mistake","message":"r"}}`, ""},
		{"required null left out", 200, "application/json", `{"id":"l","text":""}`, "signature is required"},
		{"null for a string", 200, "application/json", `{"id":null,"text":"","signature":null}`, "id must be a string"},
		{"member too many", 200, "application/json", `{"id":"l","text":"","signature":null,"x":null}`, "x is not known"},
		{"member that is never sent", 200, "application/json", `{"id":"l","text":"","signature":null,"postscript":"p"}`, "postscript is not supported"},
		{"other status", 500, "application/json", `{}`, "writeLetter does not answer with status 500"},
		{"other type", 400, "text/plain", `no`, "writeLetter does not answer 400 with text/plain"},
		{"no type", 400, "", `no`, "content type"},
		{"stream", 200, "text/event-stream", ``, "is a stream"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := o.CheckReply(tt.status, tt.contentType, []byte(tt.body))
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}
