package main

import (
	"strings"
	"testing"
)

const generated = `package p

import (
	"encoding/json"
)

func (t U) AsText() (Text, error) {
	var body Text
	err := json.Unmarshal(t.union, &body)
	return body, err
}

func (t *U) UnmarshalJSON(b []byte) error {
	err := t.union.UnmarshalJSON(b)
	return err
}

func (sh *strictHandler) Create(w http.ResponseWriter, r *http.Request) {
	if err := runtime.BindJSONBody(r, &body); err != nil {
		return
	}
}
`

func TestKeep(t *testing.T) {
	got, err := keep([]byte(generated))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`jsonv2 "encoding/json/v2"`, "err := keepUnions(t.union, &body)", "func (t *U) keep(b []byte) { t.union = b }",
		"if err := bindBody(r, &body); err != nil {", "err := t.union.UnmarshalJSON(b)",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if _, err := keep(got); err == nil || !strings.Contains(err.Error(), "already rewritten") {
		t.Errorf("the second time: %v", err)
	}
	for _, part := range []string{"BindJSONBody", "Unmarshal(t.union", "t.union.UnmarshalJSON", `"encoding/json"`} {
		if _, err := keep([]byte(strings.Replace(generated, part, "other", 1))); err == nil || !strings.Contains(err.Error(), "generator has changed") {
			t.Errorf("without %s: %v", part, err)
		}
	}
}
