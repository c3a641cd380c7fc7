package openapi

import "testing"

func TestLocate(t *testing.T) {
	o := operation(t, loadLetters(t), "writeLetter")
	body := `{"model":"m","turns":[
		{"role":"user","content":"a"},
		{"role":"user","content":[{"type":"page"},{"type":"text","text":"b"},{"type":"page"},{"type":"page"},{"type":"text","text":"c"}]},
		{"role":"user","content":[{"type":"text","text":"d"},{"type":"page"},{"type":"text","text":"e"}]}],
		"enclosures":[{"kind":"coin"},{"text":"x"},{"kind":"coin"},{"text":"y"}]}`
	checked, v := o.Check([]byte(body))
	if v != nil {
		t.Fatal(v)
	}
	tests := []struct{ place, want string }{
		{"", ""},
		{"model", "model"},
		{"turns[1].content[0].text", "turns[1].content[1].text"},
		{"turns[1].content[1]", "turns[1].content[4]"},
		{"turns.1.content.1.text", "turns.1.content.4.text"},
		{"turns[2].content[0]", "turns[2].content[0]"},
		{"turns[2].content[1]", "turns[2].content[2]"},
		{"turns[0].content[1]", "turns[0].content[1]"},
		{"enclosures[0]", "enclosures[1]"},
		{"enclosures.1.schema.properties.0.a[b]", "enclosures.3.schema.properties.0.a[b]"},
		{"enclosures[x]", "enclosures[x]"},
		{"]][[..", "]][[.."},
	}
	for _, tt := range tests {
		if got := checked.Locate(tt.place); got != tt.want {
			t.Errorf("%s is at %s, want %s", tt.place, got, tt.want)
		}
	}
	if got := (Checked{}).Locate("a[1]"); got != "a[1]" {
		t.Errorf("without anything skipped: %s", got)
	}
}

// TestLocateUndoesBranches: items that a wrong branch of a union removed do not count.
func TestLocateUndoesBranches(t *testing.T) {
	o := operation(t, loadLetters(t), "writeLetter")
	checked, v := o.Check([]byte(parts(`{"type":"page"},{"type":"page"},{"type":"text","text":"a"}`)))
	if v != nil {
		t.Fatal(v)
	}
	if got := checked.Locate("turns[0].content[0]"); got != "turns[0].content[2]" {
		t.Error(got)
	}
}
