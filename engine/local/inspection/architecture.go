package inspection

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed architectures.txt
var architecturesText string

// architecture is what a block of architectures.txt says.
type architecture struct {
	names []string
	flags map[string]bool
	keys  []string // that must be there
	lets  map[string]*expression
	musts []must // hold in each layer
	somes []must // hold in at least one
	top   []group
	block []group
}

// must is something that holds between the numbers of a file.
type must struct {
	text string
	expr *expression
}

// group is tensors that are there where a condition holds.
type group struct {
	when    *expression // nil: always
	tensors []want
}

// want is one tensor.
type want struct {
	name     string // with its ending
	optional bool
	together byte // optional tensors of a line with the same digit are there together; 0: alone
	dims     []*expression
	types    []string // how it may be stored; nil: see checkType
}

// architectureOf finds what the table says of an architecture; nil: nothing.
func architectureOf(name string) (*architecture, error) {
	table, err := parseTable(excerpt(architecturesText, name))
	return table[name], err
}

// excerpt is what a table says of one name, and of all.
func excerpt(text, name string) string {
	var b strings.Builder
	kept := true
	for line := range strings.Lines(text) {
		if names, ok := strings.CutPrefix(line, "@"); ok {
			kept = slices.Contains(strings.Fields(names), name)
		}
		if kept || strings.HasPrefix(line, "$") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// parseTable reads the notation that the tables describe.
func parseTable(text string) (map[string]*architecture, error) {
	p := &tableParser{words: map[string]string{}, table: map[string]*architecture{}, lets: map[string]*expression{}}
	number := 0
	for line := range strings.Lines(text) {
		number++
		if err := p.line(strings.TrimSpace(line)); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return p.table, nil
}

type tableParser struct {
	words   map[string]string // what $NAME stands for
	table   map[string]*architecture
	lets    map[string]*expression // of all
	current *architecture
}

func (p *tableParser) line(line string) error {
	switch {
	case line == "" || strings.HasPrefix(line, "#"):
		return nil
	case strings.HasPrefix(line, "@"):
		return p.begin(strings.Fields(line[1:]))
	case strings.HasPrefix(line, "$"):
		name, text, ok := strings.Cut(line, " = ")
		if !ok {
			return fmt.Errorf("%q has no =", line)
		}
		expanded, err := p.expand(text)
		p.words[name] = strings.Join(expanded, " ")
		return err
	}
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case word == "let" && p.current == nil:
		return let(p.lets, rest)
	case p.current == nil:
		return fmt.Errorf("%q belongs to no architecture", line)
	}
	return p.entry(word, rest)
}

var flags = []string{"rot", "split", "vary", "still", "encoder", "hears", "grid"}

func (p *tableParser) begin(words []string) error {
	p.current = &architecture{flags: map[string]bool{}, lets: maps.Clone(p.lets)}
	for _, word := range words {
		if slices.Contains(flags, word) {
			p.current.flags[word] = true
			continue
		}
		if p.table[word] != nil {
			return fmt.Errorf("%s is there twice", word)
		}
		p.current.names = append(p.current.names, word)
		p.table[word] = p.current
	}
	return nil
}

func (p *tableParser) expand(text string) ([]string, error) {
	var all []string
	for word := range strings.FieldsSeq(text) {
		if !strings.HasPrefix(word, "$") {
			all = append(all, word)
			continue
		}
		expanded, ok := p.words[word]
		if !ok {
			return nil, fmt.Errorf("%s stands for nothing", word)
		}
		all = append(all, strings.Fields(expanded)...)
	}
	return all, nil
}

func (p *tableParser) entry(word, rest string) error {
	a := p.current
	switch word {
	case "keys":
		keys, err := p.expand(rest)
		a.keys = append(a.keys, keys...)
		return err
	case "must":
		expr, err := parseExpression(rest)
		a.musts = append(a.musts, must{rest, expr})
		return err
	case "some":
		expr, err := parseExpression(rest)
		a.somes = append(a.somes, must{rest, expr})
		return err
	case "let":
		return let(a.lets, rest)
	case "top":
		g, err := p.group(rest)
		a.top = append(a.top, g)
		return err
	case "blk":
		g, err := p.group(rest)
		a.block = append(a.block, g)
		return err
	}
	return fmt.Errorf("unknown word %q", word)
}

func let(lets map[string]*expression, line string) error {
	name, text, _ := strings.Cut(line, " ")
	expr, err := parseExpression(text)
	lets[name] = expr
	return err
}

func (p *tableParser) group(text string) (group, error) {
	var g group
	if strings.HasPrefix(text, "[") {
		condition, rest, ok := strings.Cut(text[1:], "] ")
		if !ok {
			return g, fmt.Errorf("%q has no ]", text)
		}
		expr, err := parseExpression(condition)
		if err != nil {
			return g, err
		}
		g.when, text = expr, rest
	}
	words, err := p.expand(text)
	if err != nil {
		return g, err
	}
	for _, word := range words {
		w, err := parseWant(word)
		if err != nil {
			return g, err
		}
		g.tensors = append(g.tensors, w)
	}
	return g, nil
}

// endings of tensors' names; "" stands for a name with a dot at its end.
var endings = []string{".bias", ".scale", ".scales"}

// wholeName is the name of a tensor that the tables write name.
func wholeName(name string) string {
	if base, ok := strings.CutSuffix(name, "."); ok {
		return base
	}
	for _, ending := range endings {
		if strings.HasSuffix(name, ending) {
			return name
		}
	}
	return name + ".weight"
}

// storages are ways to store tensors that the tables name.
var storages = map[string][]string{"f32": {"F32"}, "f16": {"F16"}, "conv": {"F16", "F32"}, "plain": {"F32", "F16", "BF16"}}

func parseWant(word string) (want, error) {
	name, dims, ok := strings.Cut(word, ":")
	if !ok {
		return want{}, fmt.Errorf("%q has no dimensions", word)
	}
	var w want
	if base, mark, ok := strings.Cut(name, "?"); ok {
		name, w.optional = base, true
		if mark != "" {
			w.together = mark[0]
		}
	}
	w.name = wholeName(name)
	if shape, storage, ok := strings.Cut(dims, "!"); ok {
		if dims, w.types = shape, storages[storage]; w.types == nil {
			return want{}, fmt.Errorf("%q is no way to store numbers", storage)
		}
	}
	for _, dim := range splitDims(dims) {
		expr, err := parseExpression(dim)
		if err != nil {
			return want{}, err
		}
		w.dims = append(w.dims, expr)
	}
	return w, nil
}

// splitDims cuts at the commas that are not inside brackets.
func splitDims(text string) []string {
	var dims []string
	depth, start := 0, 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				dims = append(dims, text[start:i])
				start = i + 1
			}
		}
	}
	return append(dims, text[start:])
}
