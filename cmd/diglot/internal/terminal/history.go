package terminal

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxHistory is the number of entries to keep. The file may grow to twice as many
// until it is opened again.
const maxHistory = 1000

// maxEntry bounds a saved entry, in bytes.
const maxEntry = 64 << 10

// History is the input history. It is not safe for concurrent use.
type History struct {
	entries []string // oldest first
	file    *os.File // nil: none, or not writable
	paused  bool
}

// OpenHistory opens the history file at path, and creates it if missing. Only the
// user may read it, because it contains prompts. With an empty path the history
// is not saved.
func OpenHistory(path string) (*History, error) {
	if path == "" {
		return &History{}, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	entries, err := readHistory(path)
	if err != nil {
		return nil, err
	}
	if over := len(entries) - maxHistory; over > 0 {
		entries = entries[over:]
		// In place, because another process may be appending to this file.
		if err := os.WriteFile(path, []byte(strings.Join(entries, "\n")+"\n"), 0o600); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o600); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &History{entries: entries, file: f}, nil
}

func readHistory(path string) ([]string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var entries []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if entry := Plain(lines.Text()); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries, lines.Err()
}

// Add adds an entry, unless it is empty or repeats the last one. If it cannot be
// written, it is kept for this run.
func (h *History) Add(entry string) {
	if h.keep(entry) && h.file != nil && len(entry) < maxEntry {
		_, _ = h.file.WriteString(Plain(entry) + "\n")
	}
}

// keep is Add without the file. It reports whether it added the entry.
func (h *History) keep(entry string) bool {
	if h.paused || strings.TrimSpace(entry) == "" || len(h.entries) > 0 && h.entries[len(h.entries)-1] == entry {
		return false
	}
	h.entries = append(h.entries, entry)
	return true
}

// Pause makes Add ignore entries until Resume.
func (h *History) Pause() { h.paused = true }

// Resume ends a Pause.
func (h *History) Resume() { h.paused = false }

// Len is the number of entries.
func (h *History) Len() int { return len(h.entries) }

// At returns an entry; 0 is the newest.
func (h *History) At(i int) string { return h.entries[len(h.entries)-1-i] }

// Close closes the file.
func (h *History) Close() error {
	if h.file == nil {
		return nil
	}
	return h.file.Close()
}
