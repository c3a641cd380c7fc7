package recorder

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/diglot/diglot/internal/cassette"
)

// maxCases limits the files of a session.
const maxCases = 10_000

// shelf is the cassettes of a session.
type shelf struct {
	folder string
	edit   func(name string) func(*cassette.Interaction) // nil: nothing

	mu     sync.Mutex
	tapes  map[string]*tape
	counts map[string]int // of numbered cases, by their names without number
	first  error          // of writing
	ids    sync.Mutex
	shared cassette.Normaliser // of numbered cases, guarded by ids
}

// tape is a cassette that is being recorded.
type tape struct {
	ids  *cassette.Normaliser
	lock *sync.Mutex // guards ids
	edit func(*cassette.Interaction)

	mu       sync.Mutex
	cassette cassette.Cassette
}

func newShelf(folder string, edit func(string) func(*cassette.Interaction)) *shelf {
	return &shelf{folder: folder, edit: edit, tapes: map[string]*tape{}, counts: map[string]int{}}
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

// add puts a scrubbed exchange into its cassette, and writes that.
func (s *shelf) add(where Case, i cassette.Interaction) error {
	t, err := s.tape(where)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.normalise(&i)
	t.edit(&i)
	t.cassette.Interactions = append(t.cassette.Interactions, i)
	if err := cassette.Write(s.folder, t.cassette); err != nil {
		last := len(t.cassette.Interactions) - 1
		t.cassette.Interactions = t.cassette.Interactions[:last] // the next one may fit
		s.mu.Lock()
		defer s.mu.Unlock()
		s.first = cmp.Or(s.first, err)
		return err
	}
	return nil
}

// tape returns the cassette of a case.
func (s *shelf) tape(where Case) (*tape, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.tapes[where.Name]; ok {
		return t, nil
	}
	if len(s.tapes) == maxCases {
		return nil, fmt.Errorf("there are %d cases, no more are recorded", maxCases)
	}
	t := &tape{ids: &cassette.Normaliser{}, lock: &sync.Mutex{}, edit: func(*cassette.Interaction) {},
		cassette: cassette.Cassette{Name: where.Name}}
	if where.Numbered {
		t.ids, t.lock = &s.shared, &s.ids
	}
	if s.edit != nil {
		t.edit = s.edit(where.Name)
	}
	s.tapes[where.Name] = t
	return t, nil
}

func (t *tape) normalise(i *cassette.Interaction) {
	t.lock.Lock()
	defer t.lock.Unlock()
	i.Request.Body = t.ids.Request(i.Request.Body)
	i.Response.Body = t.ids.Reply(i.Response.Body)
	t.ids.Headers(i.Response.Headers)
}

// failure is the first error of writing.
func (s *shelf) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}
