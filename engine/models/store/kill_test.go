//go:build unix

package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// childVariable makes the test program run [order] in place of the tests.
const childVariable = "MODELSTORE_TEST_CHILD"

var kills = flag.Int("kills", 60, "how many processes TestRandomKills kills")

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(childVariable); ok {
		os.Exit(child(text))
	}
	flag.Parse()
	os.Exit(m.Run())
}

// order is what a child process is to do with a store.
type order struct {
	Dir   string
	Verb  string // one of verbs, or of childVerbs
	Seed  int
	Steps int           // die before this step; 0: never
	After time.Duration // die then, wherever it is; 0: never
	User  int           // become this user; 0: stay
}

// child runs an order, and tells on its standard output what it knows to be
// on the disk.
func child(text string) int {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	s, err := Open(Options{Dir: o.Dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if o.Steps > 0 {
		var steps atomic.Int64
		s.disk.step = func(string, string) error {
			if steps.Add(1) == int64(o.Steps) {
				die()
			}
			return nil
		}
	}
	if o.After > 0 {
		time.AfterFunc(o.After, die)
	}
	if o.User > 0 {
		if err := errors.Join(syscall.Setgid(o.User), syscall.Setuid(o.User)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	if err := perform(context.Background(), s, o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// die is kill -9: nothing is flushed, no deferred function runs.
func die() {
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		panic(err) // a process may always end itself
	}
	select {} // for the moment until the end
}

func perform(ctx context.Context, s *Store, o order) error {
	for _, v := range verbs() {
		if v.name == o.Verb {
			return v.run(ctx, s)
		}
	}
	run, ok := childVerbs[o.Verb]
	if !ok {
		return fmt.Errorf("no verb %q", o.Verb)
	}
	return run(ctx, s, o)
}

// childVerbs are for children alone.
var childVerbs = map[string]func(context.Context, *Store, order) error{
	"pull and tell": func(ctx context.Context, s *Store, _ order) error {
		return pullModel(ctx, s, Name{"reg.example", "x/y", "z", "t"}, toldContent, func(r Range) {
			fmt.Println(r.Offset, r.Length)
		})
	},
	"random":                      randomVerbs,
	"same layer":                  pullTogether,
	"crowd":                       func(ctx context.Context, s *Store, o order) error { return crowd(ctx, s, o.Seed) },
	"write what may only be read": writeWhatMayOnlyBeRead,
}

// start begins a child, which gets the files as 3 and up; wait says whether it
// was killed, and what it wrote.
func start(t *testing.T, o order, files ...*os.File) (wait func() (killed bool, told string)) {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.ExtraFiles = files
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() (bool, string) {
		t.Helper()
		err := cmd.Wait()
		var exit *exec.ExitError
		switch {
		case err == nil:
			return false, out.String()
		case errors.As(err, &exit) && exit.ExitCode() == -1 && errOut.Len() == 0:
			return true, out.String()
		}
		t.Fatalf("%s: %v: %s", o.Verb, err, errOut.String())
		return false, ""
	}
}

// TestKillAtEveryStep kills each verb before each of its steps on the disk.
func TestKillAtEveryStep(t *testing.T) {
	template := memoryDir(t)
	prepareStore(t, template)
	for _, v := range verbs() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			steps := 1
			for ; killAt(t, v, template, steps); steps++ {
			}
			if steps < 5 {
				t.Errorf("it was killed at %d steps only", steps-1)
			}
			t.Logf("killed at %d steps", steps-1)
		})
	}
}

// killAt is false where the verb came to its end before the step.
func killAt(t *testing.T, v verb, template string, step int) bool {
	t.Helper()
	dir := cloneStore(t, template)
	killed, _ := start(t, order{Dir: dir, Verb: v.name, Steps: step})()
	s := openTest(t, dir)
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("killed at step %d: %v", step, err)
		}
	}
	fail(checkStore(s, before, after(v)))
	fail(v.run(t.Context(), s)) // again
	fail(checkStore(s, after(v), nil))
	_, err := s.Collect(t.Context())
	fail(err)
	fail(checkNothingIsLeft(s))
	fail(checkStore(s, after(v), nil))
	return killed
}

var toldContent = noise(1, 40)

// TestKilledPullKeepsWhatIsDone compares what is missing after a kill with
// what the killed process knew to be done.
func TestKilledPullKeepsWhatIsDone(t *testing.T) {
	partly := 0
	for step := 1; ; step++ {
		dir := memoryDir(t)
		killed, told := start(t, order{Dir: dir, Verb: "pull and tell", Steps: step})()
		if !killed {
			break
		}
		s := openTest(t, dir)
		var again []string
		err := pullModel(t.Context(), s, Name{"reg.example", "x/y", "z", "t"}, toldContent, func(r Range) {
			again = append(again, fmt.Sprintln(r.Offset, r.Length))
		})
		if err != nil {
			t.Fatalf("killed at step %d: %v", step, err)
		}
		lines := slices.Collect(strings.Lines(told))
		for _, line := range again {
			if slices.Contains(lines, line) {
				t.Errorf("killed at step %d: %q was done, and is fetched again", step, line)
			}
		}
		if len(lines) > 0 && len(again) > 0 {
			partly++
		}
		if err := checkStore(s, map[string]string{"reg.example/x/y/z:t": toldContent}, nil); err != nil {
			t.Errorf("killed at step %d: %v", step, err)
		}
	}
	if partly < 10 {
		t.Errorf("only %d kills were in the middle of the download", partly)
	}
}

// The models that randomVerbs works on.
const (
	randomNames    = 6
	randomContents = 4
	randomSize     = 100_000
)

func randomName(r *rand.Rand) Name {
	return Name{DefaultHost, "random", fmt.Sprintf("m%d", r.IntN(randomNames)), DefaultTag}
}

// randomVerbs does whatever a process can do, until it is killed.
func randomVerbs(ctx context.Context, s *Store, o order) error {
	r := rand.New(rand.NewPCG(uint64(o.Seed), 0))
	for range 1000 {
		n, content := randomName(r), noise(100+r.IntN(randomContents), randomSize)
		var err error
		switch r.IntN(7) {
		case 0:
			err = createModel(ctx, s, n, content)
		case 1, 2:
			err = pullModel(ctx, s, n, content, func(Range) {})
		case 3:
			err = importModel(ctx, s, n, filepath.Join(s.Dir(), "import.gguf"))
		case 4:
			err = ifFound(s.Copy(ctx, randomName(r), n))
		case 5:
			err = ifFound(s.Remove(ctx, n))
		case 6:
			_, err = s.Collect(ctx)
		}
		if err != nil {
			return err
		}
	}
	return errors.New("it was not killed")
}

// TestRandomKills lets processes do random verbs on one store, three at a
// time, and kills each at a random moment. Run it with -kills=500 for more.
func TestRandomKills(t *testing.T) {
	dir := memoryDir(t)
	prepareStore(t, dir)
	s := openTest(t, dir)
	r := rand.New(rand.NewPCG(uint64(*kills), 1))
	for killed := 0; killed < *kills; {
		var waits []func() (bool, string)
		for range 3 {
			o := order{Dir: dir, Verb: "random", Seed: r.Int()}
			if r.IntN(2) == 0 {
				o.Steps = 1 + r.IntN(150)
			} else {
				o.After = time.Duration(1+r.IntN(100_000)) * time.Microsecond
			}
			waits = append(waits, start(t, o))
		}
		for _, wait := range waits {
			if ok, _ := wait(); ok {
				killed++
			}
		}
		if err := checkRandom(s); err != nil {
			t.Fatalf("after %d kills: %v", killed, err)
		}
	}
	checkAfterKills(t, s)
}

// checkRandom finds all the models from before, and whole ones beside them.
func checkRandom(s *Store) error {
	models, err := s.List(context.Background())
	if err != nil {
		return err
	}
	want := maps.Clone(before)
	for _, m := range models {
		if m.Name.Namespace != "random" {
			continue
		}
		if want[m.Name.String()], err = contentOf(s, m); err != nil {
			return err
		}
	}
	return checkStore(s, want, nil)
}

// checkAfterKills sees that all verbs work, and that they leave nothing.
func checkAfterKills(t *testing.T, s *Store) {
	t.Helper()
	for seed := range randomContents { // and so no download is unfinished
		n := Name{DefaultHost, "random", fmt.Sprintf("m%d", seed), DefaultTag}
		if err := pullModel(t.Context(), s, n, noise(100+seed, randomSize), func(Range) {}); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range verbs() {
		if err := v.run(t.Context(), s); err != nil {
			t.Errorf("%s: %v", v.name, err)
		}
	}
	if err := checkNothingIsLeft(s); err != nil {
		t.Error(err)
	}
}
