// Drift compares the documents in openapi with the types of the vendors' SDKs for Python
// and Node, and writes a page of what they do not have in common: request fields, members
// of replies and events that our documents do not name, and what our documents and their
// marks name that no SDK knows any more.
//
//	go run ./tools/drift                    with the newest SDKs
//	go run ./tools/drift -pinned            with those of the tests
//	go run ./tools/drift -o tools/drift/report.md
//
// An SDK's types become JSON Schemas (python/schemas.py, node/schemas.js), and those an
// OpenAPI document, which package comparison compares with ours. A difference is
// explained by the support mark of our field, by an entry in reasons.yaml, or by one of
// package comparison, which are about the vendors' documents.
//
// What nothing explains is printed, and so are entries of reasons.yaml that explain
// nothing.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := flag.String("o", "", "`file` to write the page to")
	pinned := flag.Bool("pinned", false, "read the versions that the tests use, not the newest")
	flag.Parse()
	if err := watch(ctx, !*pinned, *out, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "drift:", err)
		stop()
		os.Exit(1)
	}
}

// watch compares, writes the page to out if there is one, and says what needs attention.
func watch(ctx context.Context, newest bool, out string, said io.Writer) error {
	parts, err := readParts()
	if err != nil {
		return err
	}
	var read []language
	for _, s := range sdks {
		folder, err := s.install(ctx, newest)
		if err != nil {
			return err
		}
		t, err := s.types(ctx, folder, names(parts, s))
		if err != nil {
			return err
		}
		read = append(read, language{s, t})
	}
	r, err := compare(parts, read)
	if err != nil {
		return err
	}
	if out != "" {
		var page bytes.Buffer
		if err := pageTemplate.Execute(&page, r); err != nil {
			return err
		}
		if err := os.WriteFile(out, page.Bytes(), 0o644); err != nil {
			return err
		}
	}
	r.summarise(said)
	return nil
}

// names lists the types that an SDK is asked for.
func names(parts []part, s sdk) []string {
	var all []string
	for _, p := range parts {
		all = append(all, s.name(p))
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool { return strings.TrimSpace(name) == "" })
}
