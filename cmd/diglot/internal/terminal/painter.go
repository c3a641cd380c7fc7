package terminal

import (
	"fmt"
	"io"
	"strings"
)

// painter shows a line behind its prompt, over as many rows as that takes. It
// breaks the rows itself: terminals differ in what they do when a row is full.
type painter struct {
	out  io.Writer
	size func() (columns, rows int)

	active bool   // the prompt is on the screen
	shown  string // what is there, with the ends of rows
	row    int    // where the cursor is, from the first row shown
	column int
	atEnd  bool  // of the line
	above  []int // columns of the rows over the cursor's
	wide   int   // columns of the screen
}

// row is a part of the line that fits the screen.
type row struct {
	text    string
	columns int
}

// layout breaks clusters into rows, and finds the one with the cursor, which
// is before cluster at. A full row has another one after it, for the cursor.
func layout(clusters []cluster, at, columns int) (rows []row, y, x int) {
	rows = []row{{}}
	place := func(width int) *row {
		if rows[len(rows)-1].columns+width > columns {
			rows = append(rows, row{})
		}
		return &rows[len(rows)-1]
	}
	for i, c := range clusters {
		r := place(c.columns)
		if i == at {
			y, x = len(rows)-1, r.columns
		}
		r.text += c.text
		r.columns += c.columns
	}
	if r := place(1); at == len(clusters) {
		y, x = len(rows)-1, r.columns
	}
	return rows, y, min(x, columns-1)
}

// paint makes the screen show the prompt and the line. Of one that is longer
// than the screen it shows the part around the cursor.
func (p *painter) paint(prompt string, l *line) {
	columns, height := p.size()
	p.resize(columns)
	before := split(prompt)
	rows, y, x := layout(append(before, l.clusters...), len(before)+l.at, columns)
	top := max(0, min(y-height/2, len(rows)-height))
	rows, y = rows[top:min(top+height, len(rows))], y-top
	var b strings.Builder
	for i, r := range rows {
		b.WriteString(r.text)
		switch {
		case i == len(rows)-1:
		case r.columns < columns:
			b.WriteString("\x1b[K\r\n")
		default:
			b.WriteString("\r\n")
		}
	}
	text, atEnd := b.String(), l.at == len(l.clusters)
	clear := "\x1b[J"
	if rows[len(rows)-1].columns == columns {
		clear = "" // it is the last row of the screen, and the cursor is still in its last column
	}
	added, more := strings.CutPrefix(text, p.shown)
	switch {
	case !p.active:
		p.write(text + back(len(rows)-1-y, x, atEnd))
	case atEnd && p.atEnd && more && top == 0:
		p.write(added)
	default:
		p.write(p.begin() + text + clear + back(len(rows)-1-y, x, atEnd))
	}
	p.active, p.shown, p.row, p.column, p.atEnd = true, text, y, x, atEnd
	p.above = p.above[:0]
	for _, r := range rows[:y] {
		p.above = append(p.above, r.columns)
	}
}

// resize finds the cursor again in a terminal that has become narrower: it
// has broken the rows once more, as most do.
func (p *painter) resize(columns int) {
	if p.active && columns < p.wide {
		for _, width := range p.above {
			p.row += max(width-1, 0) / columns
		}
		p.row += p.column / columns
		p.shown, p.atEnd = "", false
	}
	p.wide = columns
}

// back moves the cursor to where it belongs after all was written: up, and to
// a column. At the end it is right already, also in a terminal that thinks
// otherwise of the width of an emoji.
func back(up, column int, atEnd bool) string {
	if atEnd {
		return ""
	}
	moves := "\r"
	if up > 0 {
		moves += fmt.Sprintf("\x1b[%dA", up)
	}
	if column > 0 {
		moves += fmt.Sprintf("\x1b[%dC", column)
	}
	return moves
}

// begin moves the cursor to where the prompt begins.
func (p *painter) begin() string {
	if p.row > 0 {
		return fmt.Sprintf("\r\x1b[%dA", p.row)
	}
	return "\r"
}

// erase takes the prompt and the line off the screen.
func (p *painter) erase() {
	if p.active {
		p.write(p.begin() + "\x1b[J")
		p.active = false
	}
}

// finish leaves the line on the screen, and begins a new one below it.
func (p *painter) finish(prompt string, l *line, mark string) {
	l.end()
	p.paint(prompt, l)
	p.active = false
	if p.column > 0 || p.row == 0 || mark != "" {
		p.write(mark + "\r\n")
	}
}

// clear makes the whole screen empty.
func (p *painter) clear() {
	p.write("\x1b[2J\x1b[H")
	p.active = false
}

// write ignores errors: a terminal that is gone ends the input too.
func (p *painter) write(s string) { _, _ = io.WriteString(p.out, s) }
