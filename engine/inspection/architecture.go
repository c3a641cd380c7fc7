package inspection

import (
	_ "embed"
	"fmt"
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
}

// architectureOf finds what the table says of an architecture; nil: nothing.
func architectureOf(name string) (*architecture, error) {
	table, err := parseArchitectures(architecturesText)
	return table[name], err
}

// parseArchitectures reads the notation that the table describes.
func parseArchitectures(text string) (map[string]*architecture, error) {
	p := &tableParser{words: map[string]string{}, table: map[string]*architecture{}}
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
	case p.current == nil:
		return fmt.Errorf("%q belongs to no architecture", line)
	}
	word, rest, _ := strings.Cut(line, " ")
	return p.entry(word, rest)
}

var flags = []string{"rot", "split", "vary", "still", "encoder"}

func (p *tableParser) begin(words []string) error {
	p.current = &architecture{flags: map[string]bool{}, lets: map[string]*expression{}}
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
		name, text, _ := strings.Cut(rest, " ")
		expr, err := parseExpression(text)
		a.lets[name] = expr
		return err
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
	w.name = name + ".weight"
	for _, ending := range endings {
		if strings.HasSuffix(name, ending) {
			w.name = name
		}
	}
	if base, ok := strings.CutSuffix(name, "."); ok {
		w.name = base
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
