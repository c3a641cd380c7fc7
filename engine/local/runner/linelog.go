package runner

import (
	"bytes"
	"log/slog"
	"time"
)

const (
	// maxLine is how much of a line is kept: native code may print without end.
	maxLine = 8 << 10

	// maxLogged is how much of what a process says is logged in a minute, in
	// bytes, with lineCost for what the log adds to a line.
	maxLogged = 256 << 10
	lineCost  = 128
)

// lineLog is a writer that logs each line, as far as there are not too many.
type lineLog struct {
	log     *slog.Logger
	partial []byte    // the beginning of a line whose end has not come
	since   time.Time // when the minute began
	logged  int       // in it
	left    int       // lines in it that were left out
}

func (l *lineLog) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		l.partial = append(l.partial, line[:min(len(line), maxLine-len(l.partial))]...)
		if whole {
			if line := bytes.TrimSpace(l.partial); len(line) > 0 {
				l.line(line)
			}
			l.partial = l.partial[:0]
		}
		rest = after
	}
	return len(p), nil
}

func (l *lineLog) line(text []byte) {
	if now := time.Now(); now.Sub(l.since) >= time.Minute {
		if l.left > 0 {
			l.log.Warn("model process said more", "lines", l.left)
		}
		l.since, l.logged, l.left = now, 0, 0
	}
	l.logged += len(text) + lineCost
	switch {
	case l.logged <= maxLogged:
		l.log.Info("model process says", "line", string(text))
	case l.left == 0:
		l.log.Warn("model process says too much, the rest of this minute is left out")
		fallthrough
	default:
		l.left++
	}
}
