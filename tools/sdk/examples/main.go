// Command examples runs the code of every page of the reference against a server, and checks
// that it does what the page says:
//
//   - curl gets the reply that is shown, apart from ids and times;
//   - code of the SDKs prints the text that is shown, and in TypeScript fits their types;
//   - the pages of operations send requests that were recorded, so that a server which plays
//     the recordings answers each with its own.
//
// A fenced block whose language is bash, python, typescript or go is code. A second word says
// which installation it needs; without one it is that of the vendors' SDKs. A block of
// another kind whose second word is a path below ~ is written there, in a home of its own.
//
//	examples [-page PART] BASE_URL MODEL MODE
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Paths from the folder of the suites, in which this runs.
const (
	reference = "../../gen/reference"
	address   = "http://127.0.0.1:8484" // as the pages write it
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	part := flag.String("page", "", "run only the code of pages whose path contains `PART`")
	flag.Parse()
	if flag.NArg() < 1 {
		fmt.Fprintln(os.Stderr, "usage: examples [-page PART] BASE_URL ...")
		os.Exit(2)
	}
	passed, failed, err := run(ctx, flag.Arg(0), *part)
	if err != nil {
		fmt.Fprintln(os.Stderr, "examples:", err)
		os.Exit(1)
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

// run runs all code. Each worker has a proxy of its own, which tells whose a request is.
func run(ctx context.Context, server, part string) (passed, failed int, err error) {
	all, err := readPages(reference)
	if err != nil {
		return 0, 0, err
	}
	all = slices.DeleteFunc(all, func(e example) bool { return !strings.Contains(e.page, part) })
	recorded, err := recordedRequests()
	if err != nil {
		return 0, 0, err
	}
	folder, err := os.MkdirTemp("", "diglot-examples-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(folder)
	programs := &programs{folder: folder, goProgram: filepath.Join(folder, "all")}
	if err := programs.buildGo(ctx, all); err != nil {
		return 0, 0, err
	}
	if err := programs.checkTypes(ctx, all); err != nil {
		failed++
		fmt.Printf("FAIL types of the code in TypeScript\n%v\n", err)
	} else {
		passed++
		fmt.Println("ok   types of the code in TypeScript")
	}
	var workers sync.WaitGroup
	var mu sync.Mutex
	queue := make(chan example)
	for range runtime.NumCPU() {
		p, err := startProxy(server)
		if err != nil {
			return 0, 0, err
		}
		defer p.close()
		workers.Go(func() {
			for e := range queue {
				problem := programs.check(ctx, e, p, recorded)
				mu.Lock()
				switch {
				case problem == nil:
					passed++
					fmt.Printf("ok   %s\n", e.name())
				case errors.Is(problem, errUnavailable):
					fmt.Printf("note: %s: %v\n", e.name(), problem)
				default:
					failed++
					fmt.Printf("FAIL %s\n%v\n", e.name(), problem)
				}
				mu.Unlock()
			}
		})
	}
	for _, e := range all {
		queue <- e
	}
	close(queue)
	workers.Wait()
	return passed, failed, nil
}
