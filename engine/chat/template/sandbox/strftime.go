package sandbox

import (
	"fmt"
	"strings"
	"time"
)

// strftime formats t as C and Python do, in the C locale. Unknown directives are
// kept.
func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		unpadded := format[i] == '-' && i+1 < len(format) // glibc: %-d has no leading zero
		if unpadded {
			i++
		}
		s, ok := directive(t, format[i])
		switch {
		case !ok && unpadded:
			b.WriteString("%-" + format[i:i+1])
		case !ok:
			b.WriteString("%" + format[i:i+1])
		case unpadded:
			b.WriteString(trimZeros(s))
		default:
			b.WriteString(s)
		}
	}
	return b.String()
}

func directive(t time.Time, c byte) (string, bool) {
	if layout, ok := strftimeLayouts[c]; ok {
		return t.Format(layout), true
	}
	switch c {
	case '%':
		return "%", true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), true
	case 's':
		return fmt.Sprint(t.Unix()), true
	case 'u':
		return fmt.Sprint((int(t.Weekday())+6)%7 + 1), true
	case 'w':
		return fmt.Sprint(int(t.Weekday())), true
	case 'U':
		return fmt.Sprintf("%02d", (t.YearDay()+6-int(t.Weekday()))/7), true
	case 'W':
		return fmt.Sprintf("%02d", (t.YearDay()+6-(int(t.Weekday())+6)%7)/7), true
	case 'G':
		year, _ := t.ISOWeek()
		return fmt.Sprint(year), true
	case 'V':
		_, week := t.ISOWeek()
		return fmt.Sprintf("%02d", week), true
	}
	return "", false
}

// strftimeLayouts are the directives with a layout in package time.
var strftimeLayouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'h': "Jan",
	'd': "02", 'e': "_2", 'm': "01", 'y': "06", 'Y': "2006", 'j': "002",
	'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM",
	'z': "-0700", 'Z': "MST",
	'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05",
	'D': "01/02/06", 'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04",
}

func trimZeros(s string) string {
	trimmed := strings.TrimLeft(s, "0 ")
	if trimmed == "" && s != "" {
		return "0"
	}
	return trimmed
}
