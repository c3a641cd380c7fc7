package terminal

import (
	"bufio"
	"cmp"
	"io"
	"strings"
	"text/tabwriter"
)

// Table writes rows below their heads in columns that line up. Cells may
// hold any text: what would break a line or move the cursor is left out.
func Table(w io.Writer, head []string, rows [][]string) error {
	buffer := bufio.NewWriter(w) // a tabwriter writes each cell on its own
	columns := tabwriter.NewWriter(buffer, 0, 0, 4, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = Plain(cell)
		}
		// What is written is kept until Flush, whose error counts.
		_, _ = io.WriteString(columns, strings.Join(cells, "\t")+"\n")
	}
	return cmp.Or(columns.Flush(), buffer.Flush())
}
