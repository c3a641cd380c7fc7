package terminal

import (
	"io"
	"strings"
	"text/tabwriter"
)

// Table writes rows below their heads in columns that line up. Cells may
// hold any text: what would break a line or move the cursor is left out.
func Table(w io.Writer, head []string, rows [][]string) error {
	columns := tabwriter.NewWriter(w, 0, 0, 4, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = Plain(cell)
		}
		// What is written is kept until Flush, whose error counts.
		_, _ = io.WriteString(columns, strings.Join(cells, "\t")+"\n")
	}
	return columns.Flush()
}
