package handlers_test

import (
	"strings"
	"testing"

	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// TestBodies checks what both styles say to bodies that are not what the
// document wants, before any field is looked at.
func TestBodies(t *testing.T) {
	h := newHandler(t, handlers.Config{MaxBody: 4096})
	// BODY stands for a valid body without its braces.
	tests := []struct {
		name, body string
		header     []string
		status     int
		code       string // in the OpenAI style
		message    string // a part of it; "" where the request works
	}{
		{name: "right", body: `{BODY}`, status: 200},
		{name: "blanks around it", body: " \n{BODY}\r\n", status: 200},
		{name: "empty", body: ``, status: 400, message: "is empty"},
		{name: "blank", body: ` `, status: 400, message: "is empty"},
		{name: "cut short", body: `{BODY`, status: 400, message: "ends too early"},
		{name: "bytes that are no UTF-8", body: "{\"model\":\"a\xffb\"}", status: 400, message: "is not UTF-8: there is a byte 0xff at byte 11"},
		{name: "no JSON", body: `model=m`, status: 400, message: "is not valid JSON"},
		{name: "a byte order mark", body: "\uFEFF{BODY}", status: 400, message: "is not valid JSON"},
		{name: "something behind it", body: `{BODY} {}`, status: 400, message: "has text after its JSON value"},
		{name: "an array", body: `[{BODY}]`, status: 400, message: "must be an object"},
		{name: "null", body: `null`, status: 400, message: "must be an object"},
		{name: "a member twice", body: `{BODY,"model":"m"}`, status: 400, message: "appears twice"},
		{name: "a member twice, once as an escape", body: `{BODY,"\u006dodel":"m"}`, status: 400, message: "appears twice"},
		{name: "a member twice, deep inside", body: `{BODY,"metadata":{"a":{"b":1,"b":2}}}`, status: 400, message: "appears twice"},
		{name: "names differ by case", body: `{BODY,"Model":5,"TEMPERATURE":"hot"}`, status: 200},
		{name: "512 levels", body: `{BODY,"metadata":` + nested(510) + `}`, status: 200},
		{name: "513 levels", body: `{BODY,"metadata":` + nested(512) + `}`, status: 400, message: "is nested too deep"},
		{name: "a number beyond floats", body: `{BODY,"temperature":1e999}`, status: 400, message: "is out of range"},
		{name: "a number beyond floats where nobody looks", body: `{BODY,"unknown":1e999}`, status: 200},
		{name: "a lone surrogate", body: `{BODY,"user":"\ud800"}`, status: 200},
		{name: "over the limit", body: `{BODY,"user":"` + strings.Repeat("x", 4096) + `"}`,
			status: 413, code: "request_too_large", message: "larger than 4096 bytes"},
		{name: "a form", body: `{BODY}`, header: []string{"Content-Type", "application/x-www-form-urlencoded"},
			status: 415, code: "unsupported_media_type", message: "must be application/json"},
		{name: "text", body: `{BODY}`, header: []string{"Content-Type", "text/plain; charset=utf-8"},
			status: 415, code: "unsupported_media_type", message: "must be application/json"},
		{name: "JSON with a parameter", body: `{BODY}`, header: []string{"Content-Type", "application/json; charset=utf-8"}, status: 200},
		{name: "JSON of a kind", body: `{BODY}`, header: []string{"Content-Type", "application/vnd.api+json"}, status: 200},
		{name: "no type", body: `{BODY}`, header: []string{"Content-Type", ""}, status: 200},
		{name: "compressed", body: `{BODY}`, header: []string{"Content-Encoding", "gzip"},
			status: 415, code: "unsupported_media_type", message: "gzip"},
		{name: "what is accepted does not decide on streaming", body: `{BODY}`, header: []string{"Accept", "text/event-stream"}, status: 200},
	}
	for _, style := range styles {
		for _, tt := range tests {
			t.Run(style.name+"/"+tt.name, func(t *testing.T) {
				body := strings.ReplaceAll(tt.body, "BODY", style.body[1:len(style.body)-1])
				w := post(t, h, style.path, []byte(body), tt.header...)
				if w.Code != tt.status {
					t.Fatalf("status %d, want %d\n%s", w.Code, tt.status, w.Body)
				}
				if got := w.Header().Get("Content-Type"); got != "application/json" {
					t.Errorf("Content-Type is %q", got)
				}
				if tt.message == "" {
					return
				}
				e, in := errorOf(t, w.Body)
				if in != style.name || !strings.Contains(e.Message, tt.message) {
					t.Errorf("error %q in the %s style, want %q", e.Message, in, tt.message)
				}
				if style.name == "openai" && text(e.Code) != tt.code {
					t.Errorf("code %q, want %q", text(e.Code), tt.code)
				}
			})
		}
	}
}

func nested(levels int) string {
	return strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels)
}

// TestSurrogates checks that a lone surrogate reaches the engine as U+FFFD, so that a
// session with one can continue.
func TestSurrogates(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a high one alone", `a\ud83db`, "a\uFFFDb"},
		{"a low one alone", `\ude00`, "\uFFFD"},
		{"a pair", `\ud83d\ude00`, "😀"},
		{"the wrong way round", `\ude00\ud83d`, "\uFFFD\uFFFD"},
	}
	for _, style := range styles {
		for _, tt := range tests {
			t.Run(style.name+"/"+tt.name, func(t *testing.T) {
				e := &handlerstest.Engine{Name: "m", Events: handlerstest.Text("x")}
				body := strings.Replace(style.body, `"u"`, `"`+tt.text+`"`, 1)
				if w := post(t, newHandler(t, handlers.Config{Engine: e}), style.path, []byte(body)); w.Code != 200 {
					t.Fatalf("status %d\n%s", w.Code, w.Body)
				}
				if got := firstText(e.Asked); got != tt.want {
					t.Errorf("the engine was asked %q, want %q", got, tt.want)
				}
			})
		}
	}
}
