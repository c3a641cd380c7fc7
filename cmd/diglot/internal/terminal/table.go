package terminal

import (
	"bufio"
	"cmp"
	"io"
	"strings"
	"text/tabwriter"
)

// Table prints rows in aligned columns below a header. Newlines and control
// characters are removed from cells.
func Table(w io.Writer, head []string, rows [][]string) error {
	buffer := bufio.NewWriter(w) // tabwriter writes cell by cell
	columns := tabwriter.NewWriter(buffer, 0, 0, 4, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = Plain(cell)
		}
		// Errors are reported by Flush.
		_, _ = io.WriteString(columns, strings.Join(cells, "\t")+"\n")
	}
	return cmp.Or(columns.Flush(), buffer.Flush())
}
