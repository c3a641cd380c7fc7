package fault

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"

	"gopkg.in/yaml.v3"
)

// Rules say which requests get which faults. They are safe for concurrent use.
type Rules struct {
	mu     sync.Mutex
	random *rand.Rand
	rules  []*rule
}

// file is a file of rules:
//
//	seed: 7                             # of probability; default 0
//	faults:                             # the first that applies counts
//	  - fault: status=503;retry-after=2 # as in the header
//	    method: POST                    # default: any
//	    path: /v1/chat/*                # * is anything; default: any
//	    model: gpt-5                    # default: any
//	    request: 2                      # only the second request that matches
//	    times: 3                        # at most three times
//	    probability: 0.5                # default 1
type file struct {
	Seed   uint64
	Faults []entry
}

type entry struct {
	Fault       string
	Method      string
	Path        string
	Model       string
	Request     int
	Times       int
	Probability *float64
}

type rule struct {
	entry
	fault *Fault
	seen  int // requests that matched
	fired int
}

// Limits of a file.
const (
	maxFile  = 1 << 20 // bytes
	maxRules = 1000
)

// Open reads a file of rules.
func Open(name string) (*Rules, error) {
	// O_NONBLOCK: it would wait for the writer of a named pipe.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, fmt.Errorf("%s: not a regular file", name))
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	rules, err := Load(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rules, nil
}

// Load reads rules.
func Load(text []byte) (*Rules, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("more than %d bytes", maxFile)
	}
	var f file
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if decoder.Decode(new(any)) != io.EOF {
		return nil, errors.New("want one YAML document, without another one after \"---\"")
	}
	if len(f.Faults) == 0 || len(f.Faults) > maxRules {
		return nil, fmt.Errorf("%d faults, want 1 to %d", len(f.Faults), maxRules)
	}
	r := &Rules{random: rand.New(rand.NewPCG(f.Seed, 0))}
	for i, e := range f.Faults {
		made, err := newRule(e)
		if err != nil {
			return nil, fmt.Errorf("fault %d: %w", i+1, err)
		}
		r.rules = append(r.rules, made)
	}
	return r, nil
}

func newRule(e entry) (*rule, error) {
	f, err := Parse(e.Fault)
	if err != nil {
		return nil, err
	}
	if *f == (Fault{}) {
		return nil, errors.New("fault is missing, such as status=503")
	}
	if e.Request < 0 || e.Times < 0 || e.Probability != nil && !(*e.Probability >= 0 && *e.Probability <= 1) {
		return nil, errors.New("request and times must not be negative, and probability is from 0 to 1")
	}
	if _, err := path.Match(e.Path, ""); err != nil {
		return nil, fmt.Errorf("path %q: %w", e.Path, err)
	}
	return &rule{entry: e, fault: f}, nil
}

// Request is what rules look at.
type Request struct{ Method, Path, Model string }

// Pick returns the fault of a request, or nil. Nil rules have none. The request counts in
// each rule that it matches, also behind the one that applies.
func (r *Rules) Pick(req Request) *Fault {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var first *rule
	for _, rule := range r.rules {
		if rule.matches(req) && rule.due(r.random) && first == nil {
			first = rule
		}
	}
	if first == nil {
		return nil
	}
	first.fired++
	return first.fault
}

func (r *rule) matches(req Request) bool {
	return (r.Method == "" || strings.EqualFold(r.Method, req.Method)) &&
		(r.Model == "" || r.Model == req.Model) &&
		(r.Path == "" || fits(r.Path, req.Path))
}

// fits reports whether a path has a pattern, whose last * is anything, with slashes.
func fits(pattern, name string) bool {
	if start, ok := strings.CutSuffix(pattern, "*"); ok && !strings.ContainsAny(start, `*?[\`) {
		return strings.HasPrefix(name, start)
	}
	ok, _ := path.Match(pattern, name)
	return ok
}

// due counts a request that matches, and reports whether it is one to fail.
func (r *rule) due(random *rand.Rand) bool {
	r.seen++
	if r.Request > 0 && r.seen != r.Request || r.Times > 0 && r.fired >= r.Times {
		return false
	}
	return r.Probability == nil || random.Float64() < *r.Probability
}
