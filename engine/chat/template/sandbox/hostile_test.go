package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ardanlabs/jinja"

	"github.com/diglot/diglot/engine/chat/template/bounds"
)

// What a rendering may take in these tests, and what it may have made when it
// is refused more, garbage included.
const (
	smallHeap = 8 << 20
	mostMade  = 64 << 20
)

// hostileValues are what hostile calls are made with: none is large, or not for
// long.
var hostileValues = map[string]func() jinja.Value{
	"dag": hostileDAG,
	"deep": func() jinja.Value {
		deep := jinja.NewList(nil)
		for range 100_000 {
			deep = jinja.NewList([]jinja.Value{deep})
		}
		return deep
	},
	"numbers": func() jinja.Value {
		return hostileList(func(i int) jinja.Value { return jinja.NewInt(int64(i)) })
	},
	"texts": func() jinja.Value {
		return hostileList(func(i int) jinja.Value { return jinja.NewString("t" + strconv.Itoa(i)) })
	},
	"wide": func() jinja.Value {
		wide := jinja.NewDict()
		for i := range 50_000 {
			wide.AsDict().Set("k"+strconv.Itoa(i), jinja.NewInt(1))
		}
		return wide
	},
	"loopy":   func() jinja.Value { return selfish() },
	"blocks":  func() jinja.Value { return jinja.NewString(strings.Repeat("a b\n", 1<<16)) },
	"accents": func() jinja.Value { return jinja.NewString(strings.Repeat("é ", 1<<18)) },
	"longest": func() jinja.Value { return jinja.NewString(strings.Repeat("a", 2<<20)) },
	"capital": func() jinja.Value { return jinja.NewString(strings.Repeat("aB", 2<<20)) },
	"widths":  func() jinja.Value { return jinja.NewString(strings.Repeat("%999999d", 1000)) },
	"marks":   func() jinja.Value { return jinja.NewString(strings.Repeat("&", 1<<20)) },
	"places":  func() jinja.Value { return jinja.NewString(strings.Repeat("{0}", 1<<15)) },
	"records": func() jinja.Value { return jinja.NewString("[" + strings.Repeat("{},", 1<<18) + "1]") },
	"nested":  func() jinja.Value { return jinja.NewString(strings.Repeat("[", 2_000_000)) },
}

// selfish is a dict with hostileDAG in it.
func selfish() jinja.Value {
	v := jinja.NewDict()
	v.AsDict().Set("self", jinja.NewList([]jinja.Value{hostileDAG()}))
	return v
}

// hostileDAG is a list that holds twice as many texts at each of its levels.
func hostileDAG() jinja.Value {
	dag := jinja.NewList([]jinja.Value{jinja.NewString("x")})
	for range 60 {
		dag = jinja.NewList([]jinja.Value{dag, dag})
	}
	return dag
}

func hostileList(item func(int) jinja.Value) jinja.Value {
	items := make([]jinja.Value, 50_000)
	for i := range items {
		items[i] = item(i)
	}
	return jinja.NewList(items)
}

// hostileFilters has at least one call of every filter that makes anything.
var hostileFilters = map[string][]string{
	"batch":      {"[1]|batch(99999999999, 'x')", "[1]|batch(linecount=9e15, fill_with=0)", "numbers|batch(40000, 'x')|batch(400000, 'x')", "longest|batch(2)"},
	"capitalize": {"dag|capitalize", "longest|capitalize"},
	"dictsort":   {"wide|dictsort"},
	"e":          {"marks|e", "dag|e"},
	"escape":     {"marks|escape", "dag|escape"},
	"first":      {"longest|first"},
	"float":      {"longest|float ~ longest ~ longest ~ longest ~ longest"},
	"from_json":  {"records|from_json", "nested|from_json"},
	"fromjson":   {"records|fromjson", "nested|fromjson"},
	"indent":     {"'a'|indent(99999999999, true)", "blocks|indent(100)", "blocks|indent(blocks)", "blocks|indent(width='" + strings.Repeat(" ", 200) + "')", "dag|indent"},
	"int":        {"longest|int ~ longest ~ longest ~ longest ~ longest"},
	"items":      {"wide|items"},
	"join":       {"numbers|join(blocks)", "longest|join", "longest|join('x')", "dag|join", "numbers|join(d=blocks)", "[dag, dag]|join", "[longest, longest]|join(attribute='0.0.0.0')"},
	"last":       {"longest|last"},
	"list":       {"longest|list"},
	"lower":      {"dag|lower", "capital|lower"},
	"map":        {"longest|map('upper')", "numbers|map('indent', 1000, true)", "texts|map('replace', 't', blocks)", "[longest, longest]|map(attribute='0.0')", "numbers|map('map', 'upper')|map('batch', 9999999, 1)", "[dag]|map('string')"},
	"max":        {"longest|max", "[dag, dag]|max"},
	"min":        {"longest|min", "[dag, dag]|min"},
	"reject":     {"longest|reject('none')", "[dag]|reject('eq', dag)"},
	"rejectattr": {"longest|rejectattr('x')", "[longest, longest]|rejectattr('0')", "[dag]|rejectattr(dag)"},
	"replace":    {"longest|replace('a', 'aaaaaaaa')", "blocks|replace('', blocks)", "blocks|replace('a', blocks, 1000)", "blocks|replace('a', blocks, count=1000)", "'a'|replace('a', dag)", "dag|replace('a', 'b')"},
	"reverse":    {"longest|reverse"},
	"select":     {"longest|select", "[dag]|select('eq', dag)"},
	"selectattr": {"longest|selectattr('x')", "[longest, longest]|selectattr('0')"},
	"sort":       {"(numbers * 50)|sort", "[dag, dag]|sort"},
	"string":     {"dag|string", "deep|string"},
	"sum":        {"longest|sum", "[dag]|sum"},
	"title":      {"dag|title", "longest|title"},
	"tojson":     {"dag|tojson", "deep|tojson", "numbers|tojson(indent=9999)", "[1]|tojson(indent=99999999999)", "numbers|tojson(separators=(blocks, ''))", "wide|tojson(indent=blocks)", "loopy|tojson"},
	"trim":       {"dag|trim", "accents|trim(accents)"},
	"unique":     {"numbers|unique", "longest|unique", "[dag, dag]|unique"},
	"upper":      {"dag|upper", "capital|upper"},
	"wordcount":  {"dag|wordcount", "longest|wordcount"},
}

var hostileMethods = map[string][]string{
	"append":     {"numbers.append(1) ~ numbers.append(1) ~ numbers.append(1) ~ (numbers * 99)"},
	"capitalize": {"longest.capitalize()"},
	"changed":    {"{% for x in [1] %}{{ loop.changed(dag) }}{% endfor %}"},
	"count":      {"longest.count('b')"},
	"endswith":   {"longest.endswith('b')"},
	"find":       {"longest.find('b')"},
	"format":     {"'{0}{0}{0}{0}{0}{0}{0}{0}'.format(longest)", "'{0}'.format('{1}{1}', '{2}{2}', longest)", "'{}'.format(dag)", "places.format(blocks)"},
	"insert":     {"numbers.insert(0, dag) ~ numbers"},
	"items":      {"wide.items()"},
	"keys":       {"[wide.keys(), wide.keys(), wide.keys(), wide.keys(), wide.keys()]"},
	"lower":      {"capital.lower()"},
	"lstrip":     {"accents.lstrip(accents)"},
	"pop":        {"wide.pop('k1') ~ wide.pop('k2') ~ wide.items()"},
	"replace":    {"longest.replace('a', 'aaaaaaaa')", "blocks.replace('', blocks)", "blocks.replace('a', blocks, 1000)", "'a'.replace('a', dag)"},
	"rstrip":     {"accents.rstrip(accents)"},
	"split":      {"marks.split('&')", "accents.split()"},
	"startswith": {"longest.startswith('b')"},
	"strip":      {"accents.strip(accents)"},
	"title":      {"longest.title()"},
	"update":     {"{}.update(wide) ~ {}.update(wide) ~ wide.items()"},
	"upper":      {"capital.upper()"},
	"values":     {"wide.values() ~ wide.values() ~ wide.values()"},
}

var hostileFunctions = map[string][]string{
	"cycler":    {"cycler(dag)"},
	"dict":      {"dict(wide)", "dict(dag)"},
	"joiner":    {"joiner(dag)"},
	"namespace": {"namespace(wide)"},
}

// hostileTemplates are what has no name of its own.
var hostileTemplates = map[string]string{
	"a text times a number":          "{{ longest * 1000 }}",
	"a number times a text":          "{{ 9 * longest }}",
	"a list times a number":          "{{ numbers * 1000 }}",
	"a sum of texts":                 "{{ " + strings.Repeat("longest + ", 20) + "1 }}",
	"a sum of lists":                 "{{ " + strings.Repeat("numbers + ", 100) + "[1] }}",
	"a sum that doubles":             "{% set x = blocks %}" + strings.Repeat("{% set x = x + x %}", 20),
	"neighbors that double":          "{% set x = blocks %}" + strings.Repeat("{% set x = x ~ x %}", 20),
	"neighbors":                      "{{ " + strings.Repeat("longest ~ ", 20) + "1 }}",
	"a list as a text":               "{{ dag ~ 'x' }}",
	"a list and a text":              "{{ 'x' + dag }}",
	"a width":                        "{{ '%999999d%999999d%999999d%999999d%999999d%999999d%999999d%999999d%999999d%999999d%999999d%999999d%999999d%999999d%999999d%999999d%999999d' % 1 }}",
	"a width that is a value":        "{{ '%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d' % (999999, 1) }}",
	"many widths":                    "{{ widths % 1 }}",
	"one value many times":           "{{ '%[1]s%[1]s%[1]s%[1]s%[1]s%[1]s%[1]s%[1]s' % longest }}",
	"a list in a format":             "{{ '%v' % ([dag],) }}",
	"a text in hexadecimal":          "{{ '%x' % longest }}",
	"a list that is printed":         "{{ dag }}",
	"a list that is printed in deep": "{{ deep }}",
	"outputs":                        strings.Repeat("{{ longest }}", 20),
	"characters of a loop":           "{% for c in longest %}{% endfor %}",
	"keys of a loop":                 "{% for k in wide %}{% for k in wide %}{% for k in wide %}{% endfor %}{% endfor %}{% endfor %}",
	"a loop that calls itself":       "{% for x in ['a'] recursive %}{{ loop(longest) }}{% endfor %}",
	"an item of a text":              "{{ capital[0] }}{{ capital[1] }}",
	"a key that is a list":           "{{ {'a': 1}[dag] }}",
	"a key of a literal":             "{{ {dag: 1} }}",
	"a slice of a list":              "{{ " + strings.Repeat("numbers[1:] + ", 60) + "[] }}",
	"a slice of a text":              "{{ (accents ~ accents)[::2] }}",
	"lists that are equal":           "{{ [dag] == [dag] }}{{ dag|list == dag|list }}",
	"lists in order":                 "{{ [dag] < [dag] }}",
	"a chain of comparisons":         "{{ [dag] == [dag] == [dag] }}",
	"a list in a list":               "{{ dag in [dag] }}",
	"a test of lists":                "{{ dag is eq dag }}",
	"a test of lists in brackets":    "{{ [1] is in([dag]) }}",
	"a test of case":                 "{{ capital is upper }}",
	"a list that is called":          "{{ dag() }}",
	"a set block":                    "{% set x %}" + strings.Repeat("{{ longest }}", 10) + "{% endset %}",
	"a filter block":                 "{% filter indent(99999999) %}a\nb{% endfilter %}",
	"a filter block of two":          "{% filter upper|replace('A', longest) %}aaaaaaaaaaaaaaaaaaaaa{% endfilter %}",
	"a call block":                   "{% macro m() %}{{ caller() * 9 }}{% endmacro %}{% call m() %}{{ longest }}{% endcall %}",
	"a default of a macro":           "{% macro m(x=longest * 9) %}{{ x }}{% endmacro %}{{ m() }}",
	"a method that is kept":          "{% set f = longest.replace %}{{ f('a', 'bbbbbbbb') }}",
	"a condition":                    "{% if longest * 9 %}x{% endif %}",
	"a condition that follows":       "{% if false %}{% elif longest * 9 %}x{% endif %}",
	"a condition of a loop":          "{% for x in [1] if longest * 9 %}{% endfor %}",
	"a choice":                       "{{ 'a' if longest * 9 else 'b' }}",
	"a filter by its hidden name":    "{{ __filter_join(numbers, blocks) }}",
	"a date":                         "{{ strftime_now(longest) }}",
	"a range":                        strings.Repeat("{% set x = [x, range(100000)] %}", 20),
}

// renderHostile renders a template with hostile values, and says how many bytes
// were made by it.
func renderHostile(t *testing.T, source string) (int64, error) {
	t.Helper()
	tpl, err := compile(source)
	if err != nil {
		return 0, err
	}
	tpl.bounds.Heap = smallHeap
	values := map[string]jinja.Value{}
	for name, value := range hostileValues {
		if strings.Contains(source, name) {
			values[name] = value()
		}
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = tpl.run(t.Context(), values)
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc), err
}

func TestHostileCalls(t *testing.T) {
	rows := map[string]string{}
	for kind, calls := range map[string]map[string][]string{"filter": hostileFilters, "method": hostileMethods, "function": hostileFunctions} {
		for name, all := range calls {
			for i, call := range all {
				if !strings.HasPrefix(call, "{%") {
					call = "{{ " + call + " }}"
				}
				rows[fmt.Sprintf("%s %s %d", kind, name, i)] = call
			}
		}
	}
	maps.Copy(rows, hostileTemplates)
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		made, err := renderHostile(t, rows[name])
		if made > mostMade {
			t.Errorf("%s: %d MB were made, more than %d: %.80s", name, made>>20, mostMade>>20, rows[name])
		}
		if !bounds.LimitExceeded(err) && !strings.Contains(fmt.Sprint(err), "there is no variable") && !strings.Contains(fmt.Sprint(err), "is not a function") {
			t.Errorf("%s: error %v, want %v: %.80s", name, err, bounds.ErrMemory, rows[name])
		}
	}
}

// TestHostileCallsAreWhole: what has a cost has a call that shows it.
func TestHostileCallsAreWhole(t *testing.T) {
	for name := range methodCosts {
		if len(hostileMethods[name]) == 0 && name != "get" {
			t.Errorf("method %s has no hostile call", name)
		}
	}
	for name := range functionCosts {
		if len(hostileFunctions[name]) == 0 {
			t.Errorf("function %s has no hostile call", name)
		}
	}
}

// TestBottomless: a template that goes down without end ends before the stack
// does, which nobody could recover from.
func TestBottomless(t *testing.T) {
	for name, source := range map[string]string{
		"a macro in its body":            "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
		"a macro in its default":         "{% macro m(a=m()) %}{% endmacro %}{{ m() }}",
		"a macro in an operation":        "{% macro m() %}{{ " + strings.Repeat("(1 + ", 150) + "m()" + strings.Repeat(")", 150) + " }}{% endmacro %}{{ m() }}",
		"a macro behind many operations": "{% macro m() %}{{ m()" + strings.Repeat(" ~ 1", 1900) + " }}{% endmacro %}{{ m() }}",
		"a macro in statements":          "{% macro m() %}" + strings.Repeat("{% if 1 %}", 150) + "{{ m() }}" + strings.Repeat("{% endif %}", 150) + "{% endmacro %}{{ m() }}",
		"a loop in its body":             "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
		"a loop in its condition":        "{% set n = namespace() %}{% for x in [1] if n.l([1]) if n.l is defined else true recursive %}{% set n.l = loop %}{{ loop([1]) }}{% endfor %}",
		"a body that is called":          "{% set n = namespace() %}{% macro m() %}{% set n.c = caller %}{{ caller() }}{% endmacro %}{% call m() %}{{ n.c() }}{% endcall %}",
		"a map of maps":                  "{{ [1]|map('map', 'map', 'map') }}",
	} {
		tpl, err := compile(source)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := tpl.run(t.Context(), map[string]jinja.Value{}); name != "a map of maps" && (err == nil || !strings.Contains(err.Error(), "nest") && !bounds.LimitExceeded(err) && !errors.Is(err, bounds.ErrTimeout)) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for name, source := range map[string]string{
		"statements":  strings.Repeat("{% if 1 %}", 50_000),
		"set blocks":  strings.Repeat("{% set x %}", 50_000),
		"denials":     "{{ " + strings.Repeat("not ", 200_000) + "1 }}",
		"signs":       "{{ " + strings.Repeat("-", 500_000) + "1 }}",
		"sums":        "{{ 1" + strings.Repeat("+1", 400_000) + " }}",
		"choices":     "{{ 1" + strings.Repeat(" if 1 else 1", 50_000) + " }}",
		"powers":      "{{ 1" + strings.Repeat("**1", 300_000) + " }}",
		"filters":     "{{ 1" + strings.Repeat("|abs", 200_000) + " }}",
		"items":       "{{ x" + strings.Repeat("[0]", 200_000) + " }}",
		"members":     "{{ x" + strings.Repeat(".a", 200_000) + " }}",
		"comparisons": "{{ 1" + strings.Repeat("<1", 300_000) + " }}",
	} {
		if _, err := compile(source); err == nil || !strings.Contains(err.Error(), "deep") && !strings.Contains(err.Error(), "operations") {
			t.Errorf("%s: error %.200v", name, err)
		}
	}
}
