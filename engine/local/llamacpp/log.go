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

// logSink joins the fragments of llama.cpp's log into lines. It keeps the errors,
// as llama.cpp says only there why a file cannot be loaded.
type logSink struct {
	log *slog.Logger

	// interrupting is set while a decode is interrupted, which llama.cpp logs as
	// an error.
	interrupting atomic.Bool

	mu     sync.Mutex
	level  slog.Level
	line   strings.Builder
	errors []string
}

// register makes s the target of llama.cpp's log, of which there is one per
// process. The handle is never freed: it may be used after the model is closed.
func (s *logSink) register() { C.shim_log(C.uintptr_t(cgo.NewHandle(s))) }

// Levels of ggml.h.
const (
	ggmlError    = 4
	ggmlContinue = 5 // the level of the previous fragment
)

//export llamacppLog
func llamacppLog(handle C.uintptr_t, level C.int32_t, text *C.char) {
	sink, ok := cgo.Handle(handle).Value().(*logSink)
	if ok {
		sink.write(int(level), C.GoString(text))
	}
}

// write adds a fragment. Everything below an error is logged as debug.
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
	if s.interrupting.Load() {
		s.level = slog.LevelDebug
	}
	s.log.Log(context.Background(), s.level, line)
	if s.level == slog.LevelError && len(s.errors) < 20 {
		s.errors = append(s.errors, line)
	}
}

// reason returns the logged errors.
func (s *logSink) reason() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.errors) == 0 {
		return "llama.cpp gives no reason"
	}
	return strings.Join(s.errors, "; ")
}
