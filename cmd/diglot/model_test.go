//go:build llamacpp && cgo

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// smallestModel finds the smallest model where the fetch program puts it.
func smallestModel(t *testing.T) string {
	t.Helper()
	directory := os.Getenv("DIGLOT_WEIGHTS")
	if directory == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		directory = filepath.Join(cache, "diglot", "models")
	}
	path := filepath.Join(directory, "smollm2-135m.gguf")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v\nget it with: go run ./tools/fetch smollm2-135m", err)
	}
	return path
}

// TestKilledModel is TestKilledRunner with all of the program in it: a real
// model in the process that serve starts.
func TestKilledModel(t *testing.T) {
	s := start(t, "--model", "m="+smallestModel(t), "--context", "512", "--parallel", "1")
	for _, style := range styles {
		t.Run(style.name, func(t *testing.T) {
			body := bufio.NewReader(post(t, s.url+style.path, fmt.Sprintf(style.body, "Write a long story about the sea.")).Body)
			readUntil(t, body, "delta")
			pids := regexp.MustCompile(`msg="model loaded".* pid=(\d+)`).FindAllStringSubmatch(s.log.String(), -1)
			kill(t, pids[len(pids)-1][1])
			rest, err := io.ReadAll(body)
			if err != nil || !strings.Contains(string(rest), style.crash) {
				t.Errorf("error %v after:\n%s", err, rest)
			}
			next, err := io.ReadAll(post(t, s.url+style.path, fmt.Sprintf(style.body, "Say hello.")).Body)
			if err != nil || !strings.Contains(string(next), style.end) {
				t.Errorf("the next request: error %v:\n%s", err, next)
			}
		})
	}
}

// TestModelCutShort starts with a file that a broken download left.
func TestModelCutShort(t *testing.T) {
	whole, err := os.ReadFile(smallestModel(t))
	if err != nil {
		t.Fatal(err)
	}
	status, _, stderr := execute(t.Context(), "serve", "--model", "m="+write(t, "cut.gguf", string(whole[:len(whole)/2])))
	if status != 1 || !strings.Contains(stderr, `model "m"`) || !strings.Contains(stderr, "is truncated within tensor") {
		t.Errorf("status %d:\n%s", status, stderr)
	}
}
