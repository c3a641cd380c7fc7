package openapi

import (
	"net/http"
	"net/url"
	"testing"
)

func TestPlace(t *testing.T) {
	tests := []struct {
		pointer     []string
		param, path string
	}{
		{nil, "", ""},
		{[]string{"model"}, "model", "model"},
		{[]string{"messages", "0", "content"}, "messages[0].content", "messages.0.content"},
		{[]string{"messages", "0", "content", "1", "image_url", "url"}, "messages[0].content[1].image_url.url", "messages.0.content.1.image_url.url"},
		{[]string{"0"}, "[0]", "0"},
	}
	for _, tt := range tests {
		v := &Violation{Pointer: tt.pointer}
		if v.Param() != tt.param || v.Path() != tt.path {
			t.Errorf("%v: %q and %q, want %q and %q", tt.pointer, v.Param(), v.Path(), tt.param, tt.path)
		}
	}
}

func TestStrict(t *testing.T) {
	o := operation(t, loadLetters(t), "writeLetter")
	tests := []struct{ name, body, want string }{
		{"nothing ignored", with(`,"seed":1`), ""},
		{"marked", with(`,"labels":{"a":"b"}`), "labels has no effect: Labels have no effect"},
		{"unknown", with(`,"x":1`), "x has no effect"},
		{"deep down", parts(`{"type":"text","text":"a"},{"type":"text","text":"b","y":1}`), "turns[0].content[1].y has no effect"},
		{"null", with(`,"x":null,"labels":null`), ""},
	}
	for _, tt := range tests {
		checked, v := o.Check([]byte(tt.body))
		if v != nil {
			t.Errorf("%s: %v", tt.name, v)
			continue
		}
		got := ""
		if v := Strict(checked.Ignored); v != nil {
			got = v.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestCheckParameters(t *testing.T) {
	d := loadLetters(t)
	tests := []struct {
		name, operation, query, letter string
		want                           string // violation
		ignored                        string
	}{
		{"right", "readLetter", "limit=5", "l", "", ""},
		{"absent", "readLetter", "", "l", "", ""},
		{"path that looks like a number", "readLetter", "", "7", "", ""},
		{"no number", "readLetter", "limit=many", "l", "limit must be an integer", ""},
		{"a quoted number", "readLetter", "limit=%225%22", "l", "limit must be an integer", ""},
		{"empty", "readLetter", "limit=", "l", "limit must be an integer", ""},
		{"range", "readLetter", "limit=0", "l", "limit must be between 1 and 100", ""},
		{"second value", "readLetter", "limit=1&limit=500", "l", "limit must be given once", ""},
		{"an exponent", "readLetter", "limit=1e1", "l", "limit must be an integer", ""},
		{"blanks", "readLetter", "limit=%205", "l", "limit must be an integer", ""},
		{"a list of one", "readLetter", "only[]=noun", "l", "", ""},
		{"a list", "readLetter", "only%5B%5D=noun&only[]=verb", "l", "", ""},
		{"an unknown item", "readLetter", "only[]=noun&only[]=7", "l", `only[] must be one of: noun, verb; "7" was sent`, ""},
		{"too many items", "readLetter", "only[]=noun&only[]=noun&only[]=verb", "l", "only[] must have at most 2 items", ""},
		{"unknown", "readLetter", "x=1", "l", "", ""},
		{"without effect", "writeLetter", "beta=true", "", "", "beta"},
	}
	for _, tt := range tests {
		query, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		ignored, v := operation(t, d, tt.operation).CheckParameters(query, http.Header{"Letters-Version": {"1"}}, func(string) string { return tt.letter })
		got := ""
		if v != nil {
			got = v.Error()
		}
		names := ""
		for _, i := range ignored {
			names += i.Name
		}
		if got != tt.want || names != tt.ignored {
			t.Errorf("%s: %q and ignored %q, want %q and %q", tt.name, got, names, tt.want, tt.ignored)
		}
	}
}
