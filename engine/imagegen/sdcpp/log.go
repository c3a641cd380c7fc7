package sdcpp

import (
	"context"
	"log/slog"
	"regexp"
	"strconv"
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

	mu      sync.Mutex
	errors  []string
	applied map[string]int // tensors of each LoRA that changed one of the model
}

// appliedLine tells how much of a LoRA fits the model.
var appliedLine = regexp.MustCompile(`\((\d+) / \d+\) LoRA tensors have been applied, lora_file_path = (.+)`)

// unusedTensor begins a line for each tensor of a LoRA that fits nothing. The line
// above has their number.
const unusedTensor = "unused lora tensor"

// maxReasons bounds the kept errors.
const maxReasons = 20

// write logs everything below a warning as debug.
func (s *logSink) write(level int, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	switch {
	case strings.HasPrefix(text, unusedTensor):
		s.log.Debug(text)
		return
	case strings.Contains(text, "LoRA tensors"):
		s.countLoRA(text)
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

func (s *logSink) countLoRA(text string) {
	found := appliedLine.FindStringSubmatch(text)
	if found == nil {
		return
	}
	n, _ := strconv.Atoi(found[1]) // digits
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.applied == nil {
		s.applied = map[string]int{}
	}
	s.applied[found[2]] += n
}

// applies reports whether the LoRA of a path changed anything so far.
func (s *logSink) applies(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.applied[path] > 0
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
