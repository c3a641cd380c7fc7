//go:build llamacpp && cgo

package llamacpp

// #include "shim.h"
import "C"

import (
	"context"
	"log/slog"
	"runtime/cgo"
	"strings"
	"sync"
	"sync/atomic"
)

// logSink puts llama.cpp's log, which comes in fragments, together into
// lines. It remembers the errors: llama.cpp says why a file cannot be
// loaded there and nowhere else.
type logSink struct {
	log *slog.Logger

	// quiet is set while a decode is interrupted on purpose: llama.cpp
	// reports that as errors.
	quiet atomic.Bool

	mu     sync.Mutex
	level  slog.Level
	line   strings.Builder
	errors []string
}

// listen makes llama.cpp, which has one log for the process, write to s. The
// handle stays: it may do so after its model is closed.
func (s *logSink) listen() { C.shim_log(C.uintptr_t(cgo.NewHandle(s))) }

// The levels of ggml.h that matter here.
const (
	ggmlError    = 4
	ggmlContinue = 5 // of the fragment before
)

//export llamacppLog
func llamacppLog(handle C.uintptr_t, level C.int32_t, text *C.char) {
	sink, ok := cgo.Handle(handle).Value().(*logSink)
	if ok {
		sink.write(int(level), C.GoString(text))
	}
}

// write adds a fragment. llama.cpp's own information, and its warnings, are
// for people who debug it: only errors keep their level.
func (s *logSink) write(level int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch level {
	case ggmlContinue:
	case ggmlError:
		s.level = slog.LevelError
	default:
		s.level = slog.LevelDebug
	}
	for {
		line, rest, whole := strings.Cut(text, "\n")
		s.line.WriteString(line)
		if !whole {
			return
		}
		s.flush()
		text = rest
	}
}

func (s *logSink) flush() {
	line := strings.TrimSpace(s.line.String())
	s.line.Reset()
	if line == "" {
		return
	}
	if s.quiet.Load() {
		s.level = slog.LevelDebug
	}
	s.log.Log(context.Background(), s.level, line)
	if s.level == slog.LevelError && len(s.errors) < 20 {
		s.errors = append(s.errors, line)
	}
}

// reason is what the log says went wrong.
func (s *logSink) reason() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.errors) == 0 {
		return "llama.cpp gives no reason"
	}
	return strings.Join(s.errors, "; ")
}
