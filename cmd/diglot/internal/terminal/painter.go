package terminal

import (
	"fmt"
	"io"
	"strings"
)

// painter draws a prompt and a line over several rows. It wraps rows itself,
// because terminals differ in how they wrap a full row.
type painter struct {
	out  io.Writer
	size func() (columns, rows int)

	active bool   // the prompt is on the screen
	shown  string // what is drawn, with newlines
	row    int    // of the cursor, from the first row shown
	column int
	atEnd  bool  // the cursor is at the end of the line
	above  []int // columns of the rows above the cursor
	wide   int   // columns of the screen
}

// row is a part of the line that fits the screen.
type row struct {
	text    string
	columns int
}

// layout wraps clusters into rows, and finds the row of the cursor, which is
// before cluster at. After a full row there is an empty one for the cursor.
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

// paint draws the prompt and the line. If they do not fit the screen, it draws the
// rows around the cursor.
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
		clear = "" // the cursor is still in the last column of the last row
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

// resize finds the cursor in a terminal that became narrower and, as most do,
// wrapped the rows again.
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

// back moves the cursor to its row and column after drawing. At the end of the
// line it need not move, which is right even if the terminal gives an emoji
// another width.
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

// begin moves the cursor to the start of the prompt.
func (p *painter) begin() string {
	if p.row > 0 {
		return fmt.Sprintf("\r\x1b[%dA", p.row)
	}
	return "\r"
}

// erase erases the prompt and the line.
func (p *painter) erase() {
	if p.active {
		p.write(p.begin() + "\x1b[J")
		p.active = false
	}
}

// finish leaves the line on the screen, and moves below it.
func (p *painter) finish(prompt string, l *line, mark string) {
	l.end()
	p.paint(prompt, l)
	p.active = false
	if p.column > 0 || p.row == 0 || mark != "" {
		p.write(mark + "\r\n")
	}
}

// clear clears the screen.
func (p *painter) clear() {
	p.write("\x1b[2J\x1b[H")
	p.active = false
}

// write ignores errors: a terminal that is gone ends the input too.
func (p *painter) write(s string) { _, _ = io.WriteString(p.out, s) }
