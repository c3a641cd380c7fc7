package openapi

import "testing"

func TestSuggestedPath(t *testing.T) {
	own, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ path, want string }{
		{"/v1/chat/completions", "/v1/chat/completions"},
		{"/chat/completions", "/v1/chat/completions"},
		{"/v1/v1/messages", "/v1/messages"},
		{"/messages", "/v1/messages"},
		{"/models/a/b", "/v1/models/a/b"},
		{"/v1/chat/completions/chat/completions", "/v1/chat/completions"},
		{"/v1/responses/responses", "/v1/responses"},
		{"/v1/messages/v1/messages", "/v1/messages"},
		{"/v1/models/v1/models", "/v1/models/v1/models"}, // a model of that name
		{"/favicon.ico", "/favicon.ico"},
		{"/v1", "/v1"},
		{"/", "/"},
	} {
		if got := own.SuggestedPath(tt.path); got != tt.want {
			t.Errorf("SuggestedPath(%q) = %q, want %q", tt.path, got, tt.want)
		}
	}
}

func TestMatch(t *testing.T) {
	d := edited(t, "  /v1/letters/{letter}:\n", `  /v1/letters/{letter}/pages/{page}:
    get:
      operationId: readPage
      summary: Read a page
      description: Finds a page.
      parameters:
        - {name: letter, in: path, required: true, description: Its name., schema: {type: string}}
        - {name: page, in: path, required: true, description: Its name., schema: {type: string}}
      responses: {'404': {description: There is none.}}
  /v1/letters/drafts/{draft}:
    get:
      operationId: readDraft
      summary: Read a draft
      description: Finds a draft.
      parameters:
        - {name: draft, in: path, required: true, description: Its name., schema: {type: string}}
      responses: {'404': {description: There is none.}}
  /v1/letters/{letter}:
`)
	for _, tt := range []struct{ method, path, want, raw string }{
		{"POST", "/v1/letters", "writeLetter", ""},
		{"POST", "/v1/letters/", "", ""},
		{"GET", "/v1/letters/a", "readLetter", "/v1/letters/a"},
		{"GET", "/v1/letters/a b/c", "readLetter", "/v1/letters/a%20b%2Fc"},
		{"GET", "/v1/letters/drafts/a/b", "readDraft", "/v1/letters/drafts/a%2Fb"},
		{"PUT", "/v1/letters/a/b", "", "/v1/letters/a%2Fb"},
		{"GET", "/v1/letters/a/pages/1", "readPage", ""},
		{"GET", "/v1/letters/a/pages/", "readLetter", "/v1/letters/a%2Fpages%2F"},
		{"GET", "/v1/letters//pages/1", "readLetter", "/v1/letters/%2Fpages%2F1"},
	} {
		id := ""
		if o, ok := d.Match(tt.method, tt.path); ok {
			id = o.ID
		}
		if raw := d.RawPath(tt.path); id != tt.want || raw != tt.raw {
			t.Errorf("%s %s is %q and %q for the router, want %q and %q", tt.method, tt.path, id, raw, tt.want, tt.raw)
		}
	}
}
