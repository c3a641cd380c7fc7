package sdcpp

import (
	"context"
	"log/slog"
	"strings"
	"sync"
)

// Levels of stable-diffusion.h.
const (
	levelWarn  = 2
	levelError = 3
)

// logSink passes the library's log on. It keeps errors, because the library says
// only there why a file cannot be loaded.
type logSink struct {
	log *slog.Logger

	mu     sync.Mutex
	errors []string
}

// maxReasons bounds the kept errors.
const maxReasons = 20

// write logs everything below a warning as debug.
func (s *logSink) write(level int, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	switch {
	case level >= levelError:
		s.keep(text)
		s.log.Error(text)
	case level == levelWarn:
		s.keep(text)
		s.log.Warn(text)
	default:
		s.log.Log(context.Background(), slog.LevelDebug, text)
	}
}

func (s *logSink) keep(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.errors) < maxReasons {
		s.errors = append(s.errors, text)
	}
}

// reason returns the errors and warnings since the last call.
func (s *logSink) reason() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	said := s.errors
	s.errors = nil
	if len(said) == 0 {
		return "stable-diffusion.cpp gives no reason"
	}
	return strings.Join(said, "; ")
}
