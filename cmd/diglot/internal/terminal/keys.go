package terminal

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	ctrlC = "\x03"
	ctrlD = "\x04"

	// lineEnd replaces newlines of a pasted text in the edited line.
	lineEnd = '⏎'

	pasteStart, pasteEnd = "\x1b[200~", "\x1b[201~"

	// maxInline bounds a pasted text that is shown, in characters. A longer one is
	// shown as a note.
	maxInline = 500
)

// keys reads keys all the time: while an answer is printed it watches for Ctrl-C,
// and queues the rest. Its goroutine ends with the input.
type keys struct {
	mu     sync.Mutex
	ready  *sync.Cond // with mu: queue or err has changed
	queue  []string   // for the line editor: key sequences, and pasted texts or notes
	err    error      // set when the input has ended
	cancel func()     // not nil: cancels the current answer

	raw    []byte // input that is not parsed yet
	paste  []byte // pasted so far
	within bool   // inside a paste

	pasted map[string]string // by its note
}

func newKeys(in io.Reader) *keys {
	k := &keys{pasted: map[string]string{}}
	k.ready = sync.NewCond(&k.mu)
	go k.pump(in)
	return k
}

func (k *keys) pump(in io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := in.Read(buf)
		k.mu.Lock()
		k.raw = append(k.raw, buf[:n]...)
		for k.step() {
		}
		k.mu.Unlock()
		if err != nil {
			k.fail(err)
			return
		}
	}
}

// fail makes next return err once the queue is empty.
func (k *keys) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = err
	}
	k.ready.Broadcast()
}

// next waits for a key. more reports whether another one is queued.
func (k *keys) next() (key string, more bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.queue) == 0 && k.err == nil {
		k.ready.Wait()
	}
	if len(k.queue) == 0 {
		return "", false, k.err
	}
	key, k.queue = k.queue[0], k.queue[1:]
	return key, len(k.queue) > 0, nil
}

// interruptible is a context that Ctrl-C ends until stop is called.
func (k *keys) interruptible(ctx context.Context) (answering context.Context, stop func()) {
	answering, cancel := context.WithCancel(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cancel = cancel
	return answering, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.cancel = nil
		cancel()
	}
}

// step parses a key, a paste marker or a piece of a paste from raw. It returns
// false if raw has no complete one.
func (k *keys) step() bool {
	if k.within {
		return k.stepPaste()
	}
	switch {
	case len(k.raw) == 0:
		return false
	case k.raw[0] == ctrlC[0]:
		k.raw = k.raw[1:]
		k.interrupt()
	case bytes.HasPrefix(k.raw, []byte(pasteStart)):
		k.raw, k.within = k.raw[len(pasteStart):], true
	default:
		whole, n := nextKey(k.raw)
		if n == 0 {
			return false
		}
		if whole {
			k.emit(string(k.raw[:n]))
		}
		k.raw = k.raw[n:]
	}
	return true
}

const (
	escape = 0x1b

	// maxSequence is above the length of any key sequence, in bytes.
	maxSequence = 32
)

// nextKey returns the length of the key at the start of raw, and whether the line
// editor can read it: unknown sequences and invalid UTF-8 would make it wait. 0 is
// an incomplete key.
func nextKey(raw []byte) (whole bool, n int) {
	switch {
	case raw[0] == escape:
		return nextSequence(raw)
	case !utf8.FullRune(raw):
		return false, 0
	}
	r, n := utf8.DecodeRune(raw)
	return r != utf8.RuneError, n
}

// nextSequence is nextKey for an escape sequence: ESC [ or ESC O, parameters,
// and a letter or tilde.
func nextSequence(raw []byte) (whole bool, n int) {
	switch {
	case len(raw) == 1:
		return false, 0
	case raw[1] == escape || raw[1] == ctrlC[0]:
		return false, 1
	case raw[1] != '[' && raw[1] != 'O':
		return false, 2 // Alt and a key: ignored
	}
	for i, b := range raw[2:min(len(raw), maxSequence)] {
		switch {
		case b >= 0x20 && b < 0x40:
		case b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '~':
			return true, i + 3
		case b > 0x20 && b < 0x7f:
			return false, i + 3
		default: // invalid: another key starts here
			return false, i + 2
		}
	}
	if len(raw) < maxSequence {
		return false, 0
	}
	return false, maxSequence
}

func (k *keys) stepPaste() bool {
	text, rest, ended := bytes.Cut(k.raw, []byte(pasteEnd))
	if !ended {
		// Keep what could be the start of the end marker.
		keep := min(len(k.raw), len(pasteEnd)-1)
		k.paste = append(k.paste, k.raw[:len(k.raw)-keep]...)
		k.raw = k.raw[len(k.raw)-keep:]
		return false
	}
	k.paste = append(k.paste, text...)
	k.raw, k.within = rest, false
	if note := k.note(string(k.paste)); note != "" {
		k.emit(note)
	}
	k.paste = nil
	return true
}

// note is the text to show for a pasted text.
func (k *keys) note(text string) string {
	text = Text(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(text, "�")))
	if n := utf8.RuneCountInString(text); n > maxInline {
		note := fmt.Sprintf("[pasted text %d, %d characters]", len(k.pasted)+1, n)
		k.pasted[note] = text
		return note
	}
	return strings.NewReplacer("\n", string(lineEnd), "\t", "    ").Replace(text)
}

// expand replaces notes and lineEnds in an edited line.
func (k *keys) expand(line string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	for note, text := range k.pasted {
		line = strings.ReplaceAll(line, note, text)
	}
	return strings.ReplaceAll(line, string(lineEnd), "\n")
}

// noted reports whether a line contains a note.
func (k *keys) noted(line string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for note := range k.pasted {
		if strings.Contains(line, note) {
			return true
		}
	}
	return false
}

func (k *keys) interrupt() {
	if k.cancel != nil {
		k.cancel()
		k.queue = nil // it was typed for the cancelled answer
		return
	}
	k.emit(ctrlC)
}

func (k *keys) emit(key string) {
	k.queue = append(k.queue, key)
	k.ready.Broadcast()
}
