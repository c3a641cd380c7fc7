package runner

import (
	"bytes"
	"log/slog"
)

// maxLine is how much of a line is kept: native code may print without end.
const maxLine = 8 << 10

// lineLog is a writer that logs each line.
type lineLog struct {
	log     *slog.Logger
	partial []byte // the beginning of a line whose end has not come
}

func (l *lineLog) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		l.partial = append(l.partial, line[:min(len(line), maxLine-len(l.partial))]...)
		if whole {
			if line := bytes.TrimSpace(l.partial); len(line) > 0 {
				l.log.Info("model process says", "line", string(line))
			}
			l.partial = l.partial[:0]
		}
		rest = after
	}
	return len(p), nil
}
