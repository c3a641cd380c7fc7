package machine

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	got, err := parse(2, "float 2e10 AVX2\nint8 8e10 AVX-512 VNNI\nread:1000 5e9 AVX2\nread:2000 4e9 AVX2\n")
	if err != nil {
		t.Fatal(err)
	}
	want := Ceilings{Threads: 2, Float: Figure{2e10, "AVX2"}, Int8: Figure{8e10, "AVX-512 VNNI"},
		Read: map[int64]Figure{1000: {5e9, "AVX2"}, 2000: {4e9, "AVX2"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ceilings (-want +got):\n%s", diff)
	}
	for _, said := range []string{"float", "float fast AVX2", "read:much 1 AVX2"} {
		if _, err := parse(1, said); err == nil {
			t.Errorf("%q is no error", said)
		}
	}
}

// TestMeasure compiles the loops where there is a compiler, as there must be for llama.cpp.
func TestMeasure(t *testing.T) {
	const size = 1 << 20
	got, err := Measure(t.Context(), 1, []int64{size})
	if errors.Is(err, ErrNoCompiler) {
		t.Log("no C compiler: only that was seen")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]Figure{"float": got.Float, "read": got.Read[size]} {
		if f.PerSecond < 1e6 || f.Instructions == "" {
			t.Errorf("%s: %v", name, f)
		}
	}
}

func TestMeasureWithoutCompiler(t *testing.T) {
	t.Setenv("CC", "no-such-compiler -O1")
	if _, err := Measure(t.Context(), 1, nil); !errors.Is(err, ErrNoCompiler) {
		t.Errorf("error %v", err)
	}
}

func TestParseStat(t *testing.T) {
	got, err := parseStat("12 (a ) b) S 7 12 12 0 -1 4194304 100 0 0 0 250 30 5 1 20 0 1 0")
	if want := (stat{7, 286}); err != nil || got != want {
		t.Errorf("%v, error %v; want %v", got, err, want)
	}
	for _, text := range []string{"", "1 (a) S 1", "1 (a) S x 1 1 0 -1 0 0 0 0 0 1 1 1 1 0"} {
		if _, err := parseStat(text); err == nil {
			t.Errorf("%q is no error", text)
		}
	}
}

// TestProcesses looks at this process and a child with a child of its own.
func TestProcesses(t *testing.T) {
	if _, err := os.Stat("/proc/self/smaps_rollup"); err != nil {
		t.Log("only Linux says what processes take")
		return
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "cat & echo; cat; wait")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	own := Of(os.Getpid())
	all, err := own.list()
	if err != nil || len(all) < 2 {
		t.Errorf("processes %v, error %v", all, err)
	}
	child, err := Of(cmd.Process.Pid).Memory()
	if err != nil || child < 50<<10 {
		t.Errorf("a shell has %d bytes, error %v", child, err)
	}
	both, err := own.Memory()
	if err != nil || both <= child {
		t.Errorf("this process and the shell have %d bytes, the shell %d; error %v", both, child, err)
	}
	if _, err := own.CPU(); err != nil {
		t.Error(err)
	}
}

func TestParsePSS(t *testing.T) {
	got, err := parsePSS([]byte("55-7f ---p 00000000 00:00 0  [rollup]\nRss:  2000 kB\nPss:    1500 kB\nPss_Anon: 7 kB\n"))
	if err != nil || got != 1500<<10 {
		t.Errorf("%d, error %v", got, err)
	}
	if _, err := parsePSS([]byte("Rss: 1 kB")); err == nil {
		t.Error("nothing is no error")
	}
}
