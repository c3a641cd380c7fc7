package template

import (
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	ollama "github.com/ollama/ollama/template"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/engine/chat/template/control"
	"github.com/diglot/diglot/engine/chat/template/sandbox/librarytest"
)

// harmlessGoFunctions make nothing that is larger than what they are given.
var harmlessGoFunctions = []string{"and", "or", "not", "len", "index", "slice", "eq", "ge", "gt", "le", "lt", "ne", "currentDate", "yesterdayDate",
	"call"} // there is nothing to call

// hostileGo are calls of all the others, and of methods.
var hostileGo = map[string]string{
	"printf":           `{{ $x := printf "%9999999d%9999999d%9999999d%999999d%999999d%999999d%999999d%999999d%999999d%999999d" 1 1 1 1 1 1 1 1 1 1 }}`,
	"printf by value":  `{{ $x := printf "%*d%*d%*d%*d%*d%*d%*d%*d%*d" 999999 1 999999 1 999999 1 999999 1 999999 1 999999 1 999999 1 }}`,
	"printf precision": `{{ $x := printf "%.999999f%.999999f%.999999f%.999999f%.999999f%.999999f%.999999f%.999999f" 1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0 }}`,
	"printf repeated":  `{{ $x := printf "%[1]s%[1]s%[1]s%[1]s%[1]s%[1]s%[1]s%[1]s%[1]s%[1]s" .Prompt }}`,
	"print":            `{{ $x := .Prompt }}{{ range 30 }}{{ $x = print $x $x }}{{ end }}`,
	"println":          `{{ $x := .Prompt }}{{ range 30 }}{{ $x = println $x $x }}{{ end }}`,
	"html":             `{{ $x := .Prompt }}{{ range 30 }}{{ $x = html $x }}{{ end }}`,
	"js":               `{{ $x := .Prompt }}{{ range 30 }}{{ $x = js $x }}{{ end }}`,
	"urlquery":         `{{ $x := .Prompt }}{{ range 30 }}{{ $x = urlquery $x }}{{ end }}`,
	"json":             `{{ $x := .Prompt }}{{ range 30 }}{{ $x = json $x }}{{ end }}`,
	"json of all":      `{{ range .Messages }}` + strings.Repeat(`{{ $x := json $.Messages }}`, 200) + `{{ end }}`,
	"toTypeScriptType": strings.Repeat(`{{ range .Tools }}{{ range .Function.Parameters.Properties }}{{ $x := toTypeScriptType . }}{{ end }}{{ end }}`, 50),
	"methods":          `{{ range .Tools }}` + strings.Repeat(`{{ $x := .Function.Parameters.String }}`, 400) + `{{ end }}`,
	"methods of type":  strings.Repeat(`{{ range .Tools }}{{ range .Function.Parameters.Properties }}{{ $x := .ToTypeScriptType }}{{ end }}{{ end }}`, 50),
	"methods in if":    `{{ range .Tools }}` + strings.Repeat(`{{ if .Function.Parameters.String }}{{ end }}`, 400) + `{{ end }}`,
	"text":             `{{ $p := .Prompt }}{{ range 100 }}{{ $p }}{{ end }}`,
	"itself":           `{{ define "x" }}{{ template "x" (print . "x") }}{{ end }}{{ template "x" "y" }}`,
}

// What a rendering may take in these tests, and what it may have made when it
// is refused more, garbage included.
const (
	smallHeap = 8 << 20
	mostMade  = 64 << 20
)

// hostileRequest is what hostile calls are made with: 600 KB of text, and a
// tool.
func hostileRequest() conversation {
	return conversation{
		turns: []turn{user(strings.Repeat("&\"<>\x01", 120_000))},
		tools: []engine.Tool{{Name: "t", Parameters: []byte(`{"type": "object", "properties": {"p": {"type": [` +
			strings.Repeat(`"a", `, 20_000) + `"object"]}}}`)}},
	}
}

func TestHostileGoCalls(t *testing.T) {
	c := hostileRequest()
	for name, source := range hostileGo {
		tpl, err := compile(`{{ if .Messages }}{{ .Prompt }}{{ end }}`+strings.ReplaceAll(source, ".Prompt", "(index .Messages 0).Content"), Model{}, testTime)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		tpl.bounds.Heap = smallHeap
		mask := control.NewMask(tpl.special)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = tpl.text(t.Context(), c, mask)
		runtime.ReadMemStats(&after)
		if made := int64(after.TotalAlloc - before.TotalAlloc); made > mostMade {
			t.Errorf("%s: %d MB were made, more than %d", name, made>>20, mostMade>>20)
		}
		if !bounds.LimitExceeded(err) {
			t.Errorf("%s: error %v, want %v", name, err, bounds.ErrMemory)
		}
	}
}

// TestGoFunctionsAreCounted holds ours against those of the language and of the
// library, whose new versions may have more.
func TestGoFunctionsAreCounted(t *testing.T) {
	theirs := librarytest.Read(t, template.New, "funcs.go").Literals("builtins")
	theirs = append(theirs, librarytest.Read(t, ollama.Parse, "template.go").Variable("funcs")...)
	ours := slices.Collect(maps.Keys(goFunctions(testTime, nil)))
	ours = slices.DeleteFunc(ours, func(name string) bool { return name == guardMade })
	if diff := cmp.Diff(librarytest.Sorted(theirs), librarytest.Sorted(append(ours, harmlessGoFunctions...))); diff != "" {
		t.Errorf("functions (-theirs +ours):\n%s", diff)
	}
	for _, name := range ours {
		if hostileGo[name] == "" && !slices.Contains(harmlessGoFunctions, name) {
			t.Errorf("function %s has no hostile call", name)
		}
	}
}

// TestGoDataIsKnown: each type that a template can get at is one whose methods
// are counted.
func TestGoDataIsKnown(t *testing.T) {
	known := map[reflect.Type]bool{}
	for _, v := range goData() {
		known[reflect.TypeOf(v)] = true
	}
	var visit func(reflect.Type)
	seen := map[reflect.Type]bool{}
	visit = func(typ reflect.Type) {
		if seen[typ] {
			return
		}
		seen[typ] = true
		if typ.PkgPath() != "" && !known[typ] {
			t.Errorf("the methods of %s are not counted", typ)
		}
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			visit(typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				if typ.Field(i).IsExported() {
					visit(typ.Field(i).Type)
				}
			}
		}
	}
	for _, v := range goData() {
		visit(reflect.TypeOf(v))
	}
	if len(goMethods()) == 0 {
		t.Error("no method is counted")
	}
}

// TestNestedProperties: the library keeps them in a list that is a ring.
func TestNestedProperties(t *testing.T) {
	tpl := mustTemplate(t, "{{ range .Tools }}{{ .Function.Name }}{{ range $name, $p := .Function.Parameters.Properties }}{{ $name }}{{ end }}{{ end }}"+
		"{{ range .Messages }}{{ .Content }}{{ range .ToolCalls }}<tool_call>{{ .Function }}</tool_call>{{ end }}{{ end }}", Model{})
	req := &engine.Request{Messages: []engine.Message{say(engine.RoleUser, "u")}, Tools: []engine.Tool{{Name: "f", Parameters: []byte(
		`{"type": "object", "properties": {"outer": {"type": "object", "properties": {"inner": {"type": "string"}}}}}`)}}}
	if _, err := tpl.Render(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}
