package handlers_test

import (
	"errors"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
)

// rendered is every code as an engine or a handler gives it, and what each
// style makes of it.
var rendered = []struct {
	err    *engine.Error
	header map[string]string

	openAIStatus             int
	openAIType, openAICode   string
	param                    string
	anthropicStatus          int
	anthropicType, anthropic string // type and message
}{
	{
		err:          engine.Errorf(engine.CodeInvalidArgument, "Wrong.").At(engine.Place{Field: engine.FieldTools, Index: 2, Path: "/properties/a~1b"}),
		openAIStatus: 400, openAIType: "invalid_request_error", param: "tools[2].function.parameters.properties.a/b",
		anthropicStatus: 400, anthropicType: "invalid_request_error", anthropic: "tools.2.input_schema.properties.a/b: Wrong.",
	},
	{
		err:          engine.Errorf(engine.CodeUnsupported, "No.").At(engine.Place{Field: engine.FieldFormat, Path: "/not"}),
		openAIStatus: 400, openAIType: "invalid_request_error", openAICode: "unsupported_value", param: "response_format.json_schema.schema.not",
		anthropicStatus: 400, anthropicType: "invalid_request_error", anthropic: "output_config.format.schema.not: No.",
	},
	{
		err:          &engine.Error{Code: engine.CodeContextLength, Message: "The prompt has 9 tokens; the model takes 8.", Place: engine.Place{Field: engine.FieldMessages}, Tokens: 9, Limit: 8},
		openAIStatus: 400, openAIType: "invalid_request_error", openAICode: "context_length_exceeded", param: "messages",
		anthropicStatus: 400, anthropicType: "invalid_request_error", anthropic: "prompt is too long: 9 tokens > 8 maximum",
	},
	{
		err:          engine.Errorf(engine.CodeUnauthenticated, "Key."),
		openAIStatus: 401, openAIType: "invalid_request_error", openAICode: "invalid_api_key",
		anthropicStatus: 401, anthropicType: "authentication_error", anthropic: "Key.",
	},
	{
		err:          engine.Errorf(engine.CodeForbidden, "Host."),
		openAIStatus: 403, openAIType: "invalid_request_error", openAICode: "forbidden",
		anthropicStatus: 403, anthropicType: "permission_error", anthropic: "Host.",
	},
	{
		err:          engine.ModelNotFound("x"),
		openAIStatus: 404, openAIType: "invalid_request_error", openAICode: "model_not_found", param: "model",
		anthropicStatus: 404, anthropicType: "not_found_error", anthropic: `model: The model "x" does not exist.`,
	},
	{
		err:          engine.Errorf(engine.CodeNotFound, "Path."),
		openAIStatus: 404, openAIType: "invalid_request_error", openAICode: "not_found",
		anthropicStatus: 404, anthropicType: "not_found_error", anthropic: "Path.",
	},
	{
		err:          engine.Errorf(engine.CodeMethodNotAllowed, "Method."),
		openAIStatus: 405, openAIType: "invalid_request_error", openAICode: "method_not_allowed",
		anthropicStatus: 405, anthropicType: "invalid_request_error", anthropic: "Method.",
	},
	{
		err:          engine.Errorf(engine.CodeUpgrade, "Socket."),
		openAIStatus: 426, openAIType: "invalid_request_error", openAICode: "upgrade_required",
		anthropicStatus: 426, anthropicType: "invalid_request_error", anthropic: "Socket.",
	},
	{
		err:          engine.Errorf(engine.CodeTooLarge, "Large."),
		openAIStatus: 413, openAIType: "invalid_request_error", openAICode: "request_too_large",
		anthropicStatus: 413, anthropicType: "request_too_large", anthropic: "Large.",
	},
	{
		err:          engine.Errorf(engine.CodeMediaType, "Type."),
		openAIStatus: 415, openAIType: "invalid_request_error", openAICode: "unsupported_media_type",
		anthropicStatus: 415, anthropicType: "invalid_request_error", anthropic: "Type.",
	},
	{
		err:          &engine.Error{Code: engine.CodeOverloaded, Message: "Later.", RetryAfter: 5},
		header:       map[string]string{"Retry-After": "5"},
		openAIStatus: 503, openAIType: "server_error", openAICode: "overloaded",
		anthropicStatus: 529, anthropicType: "overloaded_error", anthropic: "Later.",
	},
	{
		err:          engine.Errorf(engine.CodeOverloaded, "At some time."),
		header:       map[string]string{"Retry-After": "5"},
		openAIStatus: 503, openAIType: "server_error", openAICode: "overloaded",
		anthropicStatus: 529, anthropicType: "overloaded_error", anthropic: "At some time.",
	},
	{
		err:          engine.Errorf(engine.CodeDeadline, "Slow."),
		openAIStatus: 504, openAIType: "server_error", openAICode: "timeout",
		anthropicStatus: 504, anthropicType: "timeout_error", anthropic: "Slow.",
	},
	{
		err:          engine.Errorf(engine.CodeInternal, "Internal error.").Because(errors.New("secret")),
		openAIStatus: 500, openAIType: "server_error", openAICode: "internal_error",
		anthropicStatus: 500, anthropicType: "api_error", anthropic: "Internal error.",
	},
	{
		err:          &engine.Error{Code: engine.CodeEngineCrashed, Message: "Gone.", NoRetry: true},
		header:       map[string]string{"X-Should-Retry": "false"},
		openAIStatus: 502, openAIType: "server_error", openAICode: "engine_crashed",
		anthropicStatus: 502, anthropicType: "api_error", anthropic: "Gone.",
	},
}

// TestErrors checks the table of errors, streamed and not: an error before the first event
// keeps its status in both.
func TestErrors(t *testing.T) {
	e := &handlerstest.Engine{Name: "m"}
	h := newHandler(t, handlers.Config{Engine: e})
	bare, err := handlers.New(handlers.Config{Engine: e, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range rendered {
		h := h
		if tt.err.Code == engine.CodeMethodNotAllowed || tt.err.Code == engine.CodeUpgrade {
			h = bare // which no engine tells: TestPaths and TestUpgrades hold their headers
		}
		for _, style := range styles {
			for name, body := range map[string]string{"whole": style.body, "streamed": style.stream} {
				t.Run(string(tt.err.Code)+"/"+style.name+"/"+name, func(t *testing.T) {
					e.Err = tt.err
					w := post(t, h, style.path, []byte(body))
					for _, name := range []string{"Retry-After", "X-Should-Retry"} {
						if got := w.Header().Get(name); got != tt.header[name] {
							t.Errorf("%s is %q, want %q", name, got, tt.header[name])
						}
					}
					if id := w.Header().Get("X-Request-Id"); id == "" || id != w.Header().Get("Request-Id") {
						t.Errorf("X-Request-Id is %q, Request-Id is %q", id, w.Header().Get("Request-Id"))
					}
					if strings.Contains(w.Body.String(), "secret") {
						t.Error("the client is told what is for the log")
					}
					told, in := errorOf(t, w.Body)
					got := []any{in, w.Code, told.Type, told.Message, text(told.Code), text(told.Param)}
					want := []any{"openai", tt.openAIStatus, tt.openAIType, tt.err.Message, tt.openAICode, tt.param}
					if style.name == "anthropic" {
						want = []any{"anthropic", tt.anthropicStatus, tt.anthropicType, tt.anthropic, "", ""}
					}
					for i := range want {
						if got[i] != want[i] {
							t.Errorf("got %v, want %v", got[i], want[i])
						}
					}
				})
			}
		}
	}
}

// TestErrorsOfDocuments checks that both documents have all codes of the engine,
// and that no other errors are in them.
func TestErrorsOfDocuments(t *testing.T) {
	source, err := os.ReadFile("../engine/errors.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]bool{}
	for _, constant := range regexp.MustCompile(`Code = "(\w+)"`).FindAllSubmatch(source, -1) {
		codes[string(constant[1])] = true
	}
	documents, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*openapi.Document{documents.OpenAI, documents.Anthropic} {
		for code := range codes {
			if _, ok := d.Error(code); !ok {
				t.Errorf("%s lacks the error %s", d.Title, code)
			}
		}
		for _, o := range d.Operations() {
			for _, e := range o.Errors() {
				if code, _, _ := strings.Cut(e.Name, "."); !codes[code] {
					t.Errorf("%s of %s has the error %s, which is no code of the engine", o.ID, d.Title, e.Name)
				}
			}
		}
	}
	if len(codes) < len(rendered)-1 { // two rows are overloaded
		t.Errorf("%d codes found in the engine, and %d rows", len(codes), len(rendered))
	}
}

// TestErrorsAnywhere checks that errors of other packages, and errors before any field was
// read, are rendered too.
func TestErrorsAnywhere(t *testing.T) {
	for _, style := range styles {
		h := newHandler(t, handlers.Config{Engine: &handlerstest.Engine{Name: "m", Err: errors.New("secret")}})
		w := post(t, h, style.path, []byte(style.body))
		if e, in := errorOf(t, w.Body); w.Code != 500 || in != style.name || e.Message != "Internal error." {
			t.Errorf("%s: status %d, message %q in the %s style", style.name, w.Code, e.Message, in)
		}
	}
}

// TestErrorsInMidStream checks what each style and profile does with an error after the
// status was sent.
func TestErrorsInMidStream(t *testing.T) {
	crash := &engine.Error{Code: engine.CodeEngineCrashed, Message: "Gone."}
	tests := []struct {
		name, path, body string
		profile          openapi.Profile
		last             string // end of the stream; empty: the reply is aborted
	}{
		{"openai", styles[0].path, styles[0].stream, openapi.ProfileDefault,
			"data: {\"error\":{\"message\":\"Gone.\",\"type\":\"server_error\",\"param\":null,\"code\":\"engine_crashed\"}}\n\n"},
		{"openai, by the document", styles[0].path, styles[0].stream, openapi.ProfileDocument,
			"data: {\"error\":{\"message\":\"Gone.\",\"type\":\"server_error\",\"param\":null,\"code\":\"engine_crashed\"}}\n\n"},
		{"anthropic", styles[1].path, styles[1].stream, openapi.ProfileDefault,
			"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"Gone.\"},\"request_id\":\"ID\"}\n\n"},
		{"anthropic, by the document", styles[1].path, styles[1].stream, openapi.ProfileDocument, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := &handlerstest.Engine{Name: "m", Events: handlerstest.Text("x")[:3], Err: crash}
			w, aborted := stream(t, newHandler(t, handlers.Config{Engine: e, Profile: tt.profile}), tt.path, tt.body)
			if w.Code != 200 || aborted != (tt.last == "") {
				t.Fatalf("status %d, aborted %v\n%s", w.Code, aborted, w.Body)
			}
			last := strings.ReplaceAll(tt.last, "ID", w.Header().Get("Request-Id"))
			if !strings.HasSuffix(w.Body.String(), last) {
				t.Errorf("the stream does not end with %s\n%s", last, w.Body)
			}
		})
	}
}
