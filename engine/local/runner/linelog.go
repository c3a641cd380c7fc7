package runner

import (
	"bytes"
	"log/slog"
	"time"
)

const (
	// maxLine limits the length of a line.
	maxLine = 8 << 10

	// maxLogged is how many bytes are logged per minute. lineCost is added for each
	// line.
	maxLogged = 256 << 10
	lineCost  = 128
)

// lineLog is a writer that logs lines, with a rate limit.
type lineLog struct {
	log     *slog.Logger
	partial []byte    // of an incomplete line
	since   time.Time // start of the minute
	logged  int       // bytes in this minute
	dropped int       // lines in this minute
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
		if l.dropped > 0 {
			l.log.Warn("dropped output of the model process", "lines", l.dropped)
		}
		l.since, l.logged, l.dropped = now, 0, 0
	}
	l.logged += len(text) + lineCost
	switch {
	case l.logged <= maxLogged:
		l.log.Info("model process output", "line", string(text))
	case l.dropped == 0:
		l.log.Warn("model process writes too much; dropping the rest of this minute")
		fallthrough
	default:
		l.dropped++
	}
}
