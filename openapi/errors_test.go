package openapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestErrors(t *testing.T) {
	d := loadLetters(t)
	var got []string
	for _, o := range d.Operations() {
		for _, e := range o.Errors() {
			got = append(got, fmt.Sprintf("%s %d %s: %s %s: %s %s", o.ID, e.Status, e.Name, e.Type, e.Code, e.When, e.Message))
		}
	}
	want := []string{
		"writeLetter 400 wrong: mistake unreadable: A turn cannot be read. Who speaks?",
		"writeLetter 400 unsupported.no_parent: mistake : The letter answers another one. parent: is not supported",
		"readLetter 404 gone: mistake : The letter was thrown away. It is gone.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{[]string{"gone"}, "gone"},
		{[]string{"", "lost", "wrong", "gone"}, "wrong"},
		{[]string{"lost"}, ""},
	} {
		if e, ok := d.Error(tt.names...); e.Name != tt.want || ok != (tt.want != "") {
			t.Errorf("%v: error %q, want %q", tt.names, e.Name, tt.want)
		}
	}
}

func TestCheckHeaders(t *testing.T) {
	r, err := operation(t, loadLetters(t), "writeLetter").Reply(400, "application/json")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		header http.Header
		want   string // in the error; empty: none
	}{
		{"all", http.Header{"Letter-Id": {"l1"}, "Pages": {"2"}, "Date": {"now"}}, ""},
		{"the required one", http.Header{"Letter-Id": {"l1"}}, ""},
		{"another one", http.Header{"Pages": {"2"}}, "letter-id comes 0 times"},
		{"twice", http.Header{"Letter-Id": {"l1", "l2"}}, "letter-id comes 2 times"},
		{"a wrong value", http.Header{"Letter-Id": {"x"}}, "letter-id must match ^l[0-9]+$"},
		{"a wrong number", http.Header{"Letter-Id": {"l1"}, "Pages": {"0"}}, "pages must be at least 1"},
		{"no number", http.Header{"Letter-Id": {"l1"}, "Pages": {"many"}}, "pages must be an integer"},
		{"one that is not declared", http.Header{"Letter-Id": {"l1"}, "X-Stamp": {"1"}}, "X-Stamp is not in the document"},
	} {
		err := r.CheckHeaders(tt.header, func(name string) bool { return name == "Date" })
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error %v, want %q in it", tt.name, err, tt.want)
		}
	}
}
