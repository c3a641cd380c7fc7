package handlerstest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/diglot/diglot/handlers/internal/sse"
	"github.com/diglot/diglot/openapi"
)

// schemasFolder holds the vendors' published schemas, openai.json.gz and anthropic.json.gz
// (see [loadVendor]), relative to the repository. Not every checkout has them: they may not
// be redistributed.
const schemasFolder = "../shared/referee"

// countsVariable names a folder where each [Contract] writes its counts, see
// [vendorCounts]: whether an exception is still needed only shows over all test binaries
// together.
const countsVariable = "DIGLOT_VENDOR_COUNTS"

// referee checks replies against the vendors' own schemas. Our documents say what this
// server sends; the referee shows that programs written for the vendor can read it. It is
// nil without the schemas.
type referee struct {
	vendors    map[string]*vendor // by style
	exceptions []exception
}

// loadReferee compiles the schemas once per test binary.
var loadReferee = sync.OnceValues(func() (*referee, error) {
	folder, err := findSchemas()
	if folder == "" || err != nil {
		return nil, err
	}
	r := &referee{vendors: map[string]*vendor{}}
	for _, style := range []string{"openai", "anthropic"} {
		published, err := loadVendor(folder, style)
		if err != nil {
			return nil, err
		}
		r.vendors[style] = published
	}
	r.exceptions, err = readExceptions()
	return r, err
})

// findSchemas returns the folder of the vendors' schemas, or "". Tests run in the folder of
// their package.
func findSchemas() (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for !exists(filepath.Join(root, "go.mod")) {
		if root == filepath.Dir(root) {
			return "", nil // a test binary that was moved elsewhere
		}
		root = filepath.Dir(root)
	}
	folder := filepath.Join(root, schemasFolder)
	if !exists(folder) {
		return "", nil
	}
	return folder, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

var absent sync.Once

// newVendorCheck returns the vendor check of one Contract, or nil.
func newVendorCheck(t testing.TB) *vendorCheck {
	t.Helper()
	referee, err := loadReferee()
	if err != nil {
		t.Fatal(err)
	}
	if referee == nil {
		absent.Do(func() {
			t.Logf("there is no %s: replies are not held against the vendors' own schemas", schemasFolder)
		})
		return nil
	}
	c := &vendorCheck{referee: referee, counts: newVendorCounts()}
	if folder := os.Getenv(countsVariable); folder != "" {
		t.Cleanup(func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if err := c.counts.write(folder); err != nil {
				t.Error(err)
			}
		})
	}
	return c
}

// vendorCheck counts what was checked for one handler.
type vendorCheck struct {
	referee *referee

	mu     sync.Mutex
	counts vendorCounts
}

// check checks a reply against the vendor's schema of its operation. Undocumented routes
// only have errors, which are the same everywhere.
func (c *vendorCheck) check(style string, operation *openapi.Operation, r *http.Request, status int, header http.Header, body []byte) error {
	if c == nil {
		return nil
	}
	published := c.referee.vendors[style]
	route := r.Method + " " + r.URL.Path
	if operation != nil {
		route = operation.Method + " " + operation.Path
	}
	key := route
	if r.URL.Query().Get("beta") == "true" && published.has(route+betaQuery) {
		key += betaQuery
	}
	if operation == nil || status >= http.StatusBadRequest {
		return c.value(place{style, route, partError}, published.schema(key, partError), body)
	}
	if !strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
		return c.value(place{style, route, partReply}, published.schema(key, partReply), body)
	}
	frames := sse.NewReader(bytes.NewReader(body))
	for {
		f, err := frames.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(f.Data) == 0 || string(f.Data) == "[DONE]" {
			continue // a comment or the end marker, which are not JSON
		}
		if err := c.value(place{style, route, partEvent}, published.schema(key, partEvent), f.Data); err != nil {
			return err
		}
	}
}

// value checks one JSON value against a schema, exceptions aside.
func (c *vendorCheck) value(at place, schema *vendorSchema, text []byte) error {
	if schema == nil {
		return fmt.Errorf("the vendor's document has no %s for %s", at.part, at.route)
	}
	found, err := schema.check(text)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Seen[at.String()]++
	var errs []error
	for _, v := range found {
		i := slices.IndexFunc(c.referee.exceptions, func(e exception) bool { return e.covers(at, v) })
		if i < 0 {
			errs = append(errs, fmt.Errorf("the vendor's schema for the %s of %s: %v: %s", at.part, at.route, v, text))
			continue
		}
		c.counts.Used[c.referee.exceptions[i].String()]++
	}
	return errors.Join(errs...)
}
