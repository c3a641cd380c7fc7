package upstream

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	wire "github.com/diglot/diglot/gen/openai"
)

// places are all places of a type where a reply may have a value: the text before
// it and behind it.
func places(t reflect.Type, depth int) [][2]string {
	all := [][2]string{{"", ""}}
	if depth == 0 {
		return all
	}
	within := func(before string, t reflect.Type, behind string) {
		for _, p := range places(t, depth-1) {
			all = append(all, [2]string{before + p[0], p[1] + behind})
		}
	}
	switch t {
	case reflect.TypeFor[content]():
		within(`[{"text":`, reflect.TypeFor[string](), `}]`)
		within(`[{"thinking":[{"text":`, reflect.TypeFor[string](), `}]}]`)
		return all
	case reflect.TypeFor[json.RawMessage]():
		return all
	}
	switch t.Kind() {
	case reflect.Pointer:
		return places(t.Elem(), depth)
	case reflect.Slice:
		within("[", t.Elem(), "]")
	case reflect.Map:
		if t.Key().Kind() == reflect.Bool { // a member that may be null
			return places(t.Elem(), depth)
		}
		within(`{"a":`, t.Elem(), "}")
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous {
				all = append(all, places(f.Type, depth)...)
			} else if name != "" && name != "-" {
				within(`{"`+name+`":`, f.Type, "}")
			}
		}
	}
	return all
}

// TestDecodedSize decodes lists, objects and texts of many kinds in every place
// of every type that replies are decoded to, and holds that no more memory is
// taken than is reserved. All that is allocated counts, and twice as much may
// be: lists that grow leave their old places to the collector.
func TestDecodedSize(t *testing.T) {
	const n = 400
	var fillers []string
	for _, value := range []string{`{}`, `[]`, `null`, `0`, `""`, `{"":0}`, `[{}]`, `{"a":{}}`, `[[]]`, `"x"`, `1e5`, `{"text":"some words of a text"}`} {
		var members strings.Builder
		for i := range n {
			fmt.Fprintf(&members, `,"%d":%s`, i, value)
		}
		list := strings.Repeat(","+value, n)
		fillers = append(fillers, "["+list[1:]+"]", "{"+members.String()[1:]+"}", value)
	}
	for _, text := range []string{"x", `\u20ac`, "\xff", `\n`, "é"} {
		fillers = append(fillers, `"`+strings.Repeat(text, n)+`"`)
	}
	for _, tt := range []struct {
		name string
		out  reflect.Type
		each int
		few  int // bytes that are not reserved
	}{
		{"a chunk", reflect.TypeFor[chunk](), valueWeight, smallValues},
		{"an error", reflect.TypeFor[errorFields](), valueWeight, smallValues},
		{"an error in the place of a reply", reflect.TypeFor[faultOrContents](), 0, smallValues},
		{"vectors", reflect.TypeFor[embeddingList](), numberWeight, maxVectors * 200},
		{"pictures", reflect.TypeFor[wire.ImageList](), valueWeight, smallValues},
	} {
		for _, p := range places(tt.out, 12) {
			for _, filler := range fillers {
				text := []byte(p[0] + filler + p[1])
				reserved := byteWeight*len(text) + decodedSize(text, tt.each)
				taken := taken(func() { _ = json.Unmarshal(text, reflect.New(tt.out).Interface()) })
				if taken > 2*reserved+tt.few {
					t.Errorf("%s: %s%.30s takes %d bytes, and %d are reserved", tt.name, p[0], filler, taken, reserved)
				}
			}
		}
	}
}

// taken is how many bytes are allocated.
func taken(do func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}
