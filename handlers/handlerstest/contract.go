// Package handlerstest checks replies against the closed documents: an undocumented field,
// an event out of order or an error in the wrong envelope fails whatever test it occurs in.
package handlerstest

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/handlers/documents"
	"github.com/diglot/diglot/handlers/internal/sse"
	"github.com/diglot/diglot/openapi"
)

// Contract returns a handler that answers like next and fails t for every reply that
// violates its document.
func Contract(t testing.TB, next http.Handler) http.Handler {
	t.Helper()
	return ContractOf(t, next, own(t))
}

// ContractOf is [Contract] with other documents than the server's own.
func ContractOf(t testing.TB, next http.Handler, of openapi.Documents) http.Handler {
	t.Helper()
	check := contract{of, newVendorCheck(t)}.check
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		copied := &copied{ResponseWriter: w}
		aborted := serves(next, copied, r)
		if r.Context().Err() == nil { // else nobody reads the reply
			if err := check(r, copied.status, w.Header(), copied.body.Bytes()); err != nil && !(aborted && errors.Is(err, errEnd)) {
				t.Errorf("%s %s: %v\n%s", r.Method, r.URL.Path, err, copied.body.Bytes())
			}
		}
		if aborted {
			panic(http.ErrAbortHandler)
		}
	})
}

// serves reports whether next aborted the reply.
func serves(next http.Handler, w http.ResponseWriter, r *http.Request) (aborted bool) {
	defer func() {
		cause := recover()
		if aborted = cause == http.ErrAbortHandler; cause != nil && !aborted {
			panic(cause)
		}
	}()
	next.ServeHTTP(w, r)
	return false
}

// Check returns a check of one whole reply, for tests over the network.
func Check(t testing.TB) func(r *http.Request, status int, header http.Header, body []byte) error {
	t.Helper()
	return contract{own(t), newVendorCheck(t)}.check
}

func own(t testing.TB) openapi.Documents {
	t.Helper()
	embedded, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return embedded
}

// Edited is a document of this server with one text replaced.
func Edited(t testing.TB, name, old, text string) *openapi.Document {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	yaml, err := os.ReadFile(filepath.Join(filepath.Dir(here), "../../openapi", name))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(yaml, []byte(old)) {
		t.Fatalf("%s has no text %s", name, old)
	}
	document, err := openapi.Load(bytes.ReplaceAll(yaml, []byte(old), []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

type contract struct {
	openapi.Documents
	vendor *vendorCheck
}

func (c contract) check(r *http.Request, status int, header http.Header, body []byte) error {
	if isPage(r, header) || isFile(r, header) {
		return nil
	}
	document, style := c.OpenAI, "openai"
	if of, ok := c.ForPath(r.URL.Path); of == c.Anthropic && ok || !ok && r.Header.Get("Anthropic-Version") != "" {
		document, style = c.Anthropic, "anthropic"
	}
	operation, _ := document.Match(r.Method, r.URL.Path) // nil: a path without operation
	headers := checkHeaders(document, operation, status, header)
	if r.Method == http.MethodHead || r.Method == http.MethodOptions || r.URL.Path == "/" || r.URL.Path == "/health" || r.URL.Path == "/readyz" {
		return headers // the rest is not documented
	}
	return errors.Join(
		headers,
		checkSpelling(header.Get("Content-Type"), body),
		checkReply(document, operation, status, header.Get("Content-Type"), body),
		checkError(document, operation, status, body),
		c.vendor.check(style, operation, r, status, header, body))
}

// isPage reports whether a reply is a page or a file of one, of which the documents say
// nothing.
func isPage(r *http.Request, header http.Header) bool {
	_, path, _ := strings.Cut(r.URL.Path, "/")
	first, _, _ := strings.Cut(path, "/")
	return slices.Contains([]string{"", "docs", "site"}, first) && header.Get("Content-Security-Policy") != ""
}

// isFile reports whether a reply is an exported document, of which the documents say nothing
// either.
func isFile(r *http.Request, header http.Header) bool {
	return strings.HasPrefix(r.URL.Path, documents.Folder) && header.Get("ETag") != ""
}

// checkSpelling checks that JSON is not escaped more than necessary. Streams escape some
// line separators for clients that split lines at them, so only the escapes for HTML are
// looked for there.
func checkSpelling(contentType string, body []byte) error {
	if strings.HasPrefix(contentType, "text/event-stream") {
		if found := htmlEscapes.Find(body); found != nil {
			return fmt.Errorf("the stream spells a character as %s", found)
		}
		return nil
	}
	body = bytes.TrimSpace(body)
	plain, err := jsontext.AppendFormat(nil, body, jsontext.PreserveRawStrings(false), jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false))
	if err == nil && !bytes.Equal(plain, body) {
		return fmt.Errorf("the reply is not spelled plainly, which would be %s", plain)
	}
	return nil
}

// htmlEscapes does not match an escaped backslash before letters.
var htmlEscapes = regexp.MustCompile(`(?i)[^\\](\\\\)*\\u00(3c|3e|26)`)

// checkReply checks a reply against our own document.
func checkReply(document *openapi.Document, operation *openapi.Operation, status int, contentType string, body []byte) error {
	switch {
	case operation == nil:
		// Any operation will do: errors are the same everywhere.
		return document.Operations()[0].CheckReply(status, contentType, body)
	case strings.HasPrefix(contentType, "text/event-stream"):
		return checkStream(operation, status, contentType, body)
	}
	return operation.CheckReply(status, contentType, body)
}

// errEnd is the error of an incomplete stream, as an aborted one is.
var errEnd = errors.New("the stream as a whole")

func checkStream(o *openapi.Operation, status int, contentType string, body []byte) error {
	reply, err := o.Reply(status, contentType)
	if err != nil {
		return err
	}
	if !bytes.HasSuffix(body, []byte("\n\n")) {
		return fmt.Errorf("%w does not end with a blank line", errEnd)
	}
	checker := reply.Stream.NewChecker()
	frames := sse.NewReader(bytes.NewReader(body))
	for {
		f, err := frames.Next()
		if errors.Is(err, io.EOF) {
			if err := checker.End(); err != nil {
				return fmt.Errorf("%w: %w", errEnd, err)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if err := checker.Frame(f.Event, string(f.Data)); err != nil {
			return err
		}
		if err := checkError(nil, o, 0, f.Data); err != nil {
			return err
		}
	}
}

// copied records the reply.
type copied struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (w *copied) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *copied) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.body.Write(b)
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *copied) Unwrap() http.ResponseWriter { return w.ResponseWriter }
