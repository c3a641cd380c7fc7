package recorder

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/diglot/diglot/internal/cassette"
)

// maxCases limits the files of a session.
const maxCases = 10_000

// shelf is the cassettes of a session.
type shelf struct {
	folder string
	edit   func(name string) func(*cassette.Interaction) // nil: nothing
	log    *slog.Logger

	writing sync.WaitGroup
	mu      sync.Mutex // guards what follows, and all tapes
	tapes   map[string]*tape
	counts  map[string]int      // of numbered cases, by their names without number
	shared  cassette.Normaliser // of numbered cases
	first   error               // of writing
}

// tape is a cassette that is being recorded.
type tape struct {
	ids  *cassette.Normaliser
	edit func(*cassette.Interaction)

	cassette cassette.Cassette
	stale    bool // the file lacks an exchange
	writing  bool
}

func newShelf(config Config) *shelf {
	return &shelf{folder: config.Folder, edit: config.Edit, log: config.Log, tapes: map[string]*tape{}, counts: map[string]int{}}
}

// number gives a numbered case the next number.
func (s *shelf) number(c Case) Case {
	if !c.Numbered {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts[c.Name] > 0 || len(s.counts) < maxCases {
		s.counts[c.Name]++
	}
	c.Name = fmt.Sprintf("%s/%04d", c.Name, s.counts[c.Name])
	return c
}

// add puts a scrubbed exchange into its cassette.
func (s *shelf) add(where Case, i cassette.Interaction) error {
	t, err := s.tape(where)
	if err != nil {
		return err
	}
	// Without the lock: bodies may be large.
	i.Request.Body = t.ids.Request(i.Request.Body)
	i.Response.Body = t.ids.Reply(i.Response.Body)
	t.ids.Headers(i.Response.Headers)
	s.mu.Lock()
	defer s.mu.Unlock()
	t.edit(&i)
	t.cassette.Interactions = append(t.cassette.Interactions, i)
	t.stale = true
	if !t.writing {
		t.writing = true
		s.writing.Go(func() { s.write(t) })
	}
	return nil
}

// tape returns the cassette of a case.
func (s *shelf) tape(where Case) (*tape, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tapes[where.Name]
	if t == nil && len(s.tapes) == maxCases {
		return nil, fmt.Errorf("there are %d cases, and no more are recorded", maxCases)
	}
	if t == nil {
		t = s.newTape(where)
		s.tapes[where.Name] = t
	}
	return t, nil
}

func (s *shelf) newTape(where Case) *tape {
	t := &tape{ids: &cassette.Normaliser{}, edit: func(*cassette.Interaction) {}, cassette: cassette.Cassette{Name: where.Name}}
	if where.Numbered {
		t.ids = &s.shared
	}
	if s.edit != nil {
		t.edit = s.edit(where.Name)
	}
	return t
}

// write writes a cassette until its file is not stale any more. What comes while the
// disk is busy is written together.
func (s *shelf) write(t *tape) {
	for {
		s.mu.Lock()
		now := t.cassette
		if !t.stale {
			t.writing = false
			s.mu.Unlock()
			return
		}
		t.stale = false
		s.mu.Unlock()
		if err := cassette.Write(s.folder, now); err != nil {
			s.fail(t, len(now.Interactions), err)
		}
	}
}

// fail notes that the first count exchanges of a cassette could not be written. Those
// that are too many for one file are dropped.
func (s *shelf) fail(t *tape, count int, err error) {
	s.log.Error("not written", "case", t.cassette.Name, "reason", err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first = cmp.Or(s.first, err)
	if errors.Is(err, cassette.ErrTooLarge) || errors.Is(err, cassette.ErrUnreadable) {
		t.cassette.Interactions = append(t.cassette.Interactions[:count-1:count-1], t.cassette.Interactions[count:]...)
		t.stale = true
	}
}

// close waits until everything is written. It returns the first error.
func (s *shelf) close() error {
	s.writing.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}
