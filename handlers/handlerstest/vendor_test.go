package handlerstest

import (
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/openapi"
)

// TestWholeRun runs all tests that check replies against the documents once more, against
// the vendors' schemas too. An exception that no reply needs fails here, as no single test
// can know it.
func TestWholeRun(t *testing.T) {
	if r, err := loadReferee(); err == nil && r == nil {
		t.Skipf("there is no %s; tools/sdk holds replies against the types of the vendors' SDKs all the same", schemasFolder)
	}
	exceptions, err := readExceptions()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	test := exec.CommandContext(t.Context(), "go", append([]string{"test", "-count=1"}, judged(t)...)...)
	test.Env = append(os.Environ(), countsVariable+"="+folder)
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", test, err, out)
	}
	total, err := readCounts(folder)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[part]int{}
	for name, n := range total.Seen {
		kinds[part(name[strings.LastIndex(name, " ")+1:])] += n
	}
	t.Logf("%d replies, %d events and %d errors held against the vendors' schemas, with %d exceptions",
		kinds[partReply], kinds[partEvent], kinds[partError], len(total.Used))
	for _, p := range served(t) {
		if total.Seen[p.String()] == 0 {
			t.Errorf("no test has a %v", p)
		}
	}
	for _, e := range exceptions {
		if total.Used[e.String()] == 0 {
			t.Errorf("no reply needs the exception %q", e)
		}
	}
}

// served lists what the documents say is sent: the reply of every operation,
// its events and its errors.
func served(t *testing.T) []place {
	t.Helper()
	var all []place
	for style, load := range map[string]func() (*openapi.Document, error){"openai": openapi.OpenAI, "anthropic": openapi.Anthropic} {
		document, err := load()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range document.Operations() {
			for _, r := range o.Replies {
				p := place{style, o.Method + " " + o.Path, partReply}
				switch {
				case r.Stream != nil:
					p.part = partEvent
				case r.Status >= http.StatusBadRequest:
					p.part = partError
				}
				if !slices.Contains(all, p) {
					all = append(all, p)
				}
			}
		}
	}
	return all
}

// judged lists the other packages that use this one in tests.
func judged(t *testing.T) []string {
	t.Helper()
	const own = "github.com/diglot/diglot/handlers/handlerstest"
	const format = `{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}`
	list := exec.CommandContext(t.Context(), "go", "list", "-f", format, "github.com/diglot/diglot/...")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v: %v", list, err)
	}
	var packages []string
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if words[0] != own && slices.Contains(words[1:], own) {
			packages = append(packages, words[0])
		}
	}
	if len(packages) == 0 {
		t.Fatal("no package uses handlerstest")
	}
	return packages
}

// smallVendor is a document in the form of the vendors' files.
const smallVendor = `{
	"ops": {
		"POST /messages": {"reply": "Reply", "stream": "Event", "error": "Failure"},
		"POST /messages?beta=true": {"reply": "Block", "stream": null, "error": "Failure"}
	},
	"components": {"schemas": {
		"Reply": {"type": "object", "required": ["id", "content"], "additionalProperties": false, "properties": {
			"id": {"type": "string"},
			"content": {"type": "array", "items": {"$ref": "#/components/schemas/Block"}},
			"note": {"anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/Text"}, {"type": "null"}]}}},
		"Block": {"oneOf": [{"$ref": "#/components/schemas/Text"}, {"$ref": "#/components/schemas/Call"}]},
		"Text": {"type": "object", "required": ["type", "text"], "properties": {"type": {"const": "text"}, "text": {"type": "string"}}},
		"Call": {"type": "object", "required": ["type", "name", "input", "caller"], "properties": {
			"type": {"enum": ["call"]}, "name": {"type": "string"}, "input": {"type": "object"}, "caller": {"type": "string"}}},
		"Event": {"type": "object", "required": ["type"]},
		"Failure": {"type": "object", "required": ["error"]}
	}}
}`

func loadSmallVendor(t *testing.T) *vendor {
	t.Helper()
	folder := t.TempDir()
	f, err := os.Create(filepath.Join(folder, "small.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := gzip.NewWriter(f)
	if _, err := w.Write([]byte(smallVendor)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	v, err := loadVendor(folder, "small")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVendorSchema(t *testing.T) {
	v := loadSmallVendor(t)
	tests := []struct {
		name, body string
		want       []string
	}{
		{"fits", `{"id":"a","content":[{"type":"text","text":"x"}],"note":null}`, nil},
		{"closed schemas are opened", `{"id":"a","content":[],"more":1}`, nil},
		{"missing members are named", `{}`, []string{"/id breaks required", "/content breaks required"}},
		{"type", `{"id":1,"content":[]}`, []string{"/id breaks type"}},
		{
			"the member of a union is chosen by its tag, however much is wrong in it",
			`{"id":"a","content":[{"type":"text","text":"x"},{"type":"call"}]}`,
			[]string{"/content/1/name breaks required", "/content/1/input breaks required", "/content/1/caller breaks required"},
		},
		{
			"what is missing counts more than what is wrong",
			`{"id":"a","content":[],"note":{"type":"text","text":[]}}`, []string{"/note/text breaks type"},
		},
		{"a tag of no member", `{"id":"a","content":[{"type":"other","text":"x"}]}`, []string{"/content/0/type breaks const"}},
		{"the member of a union is chosen by its type", `{"id":"a","content":[],"note":{"type":"text"}}`, []string{"/note/text breaks required"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found, err := v.schema("POST /v1/messages", partReply).check([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				got = append(got, f.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestVendorCheck(t *testing.T) {
	call := exception{Style: "small", Route: "POST /v1/messages", Part: "reply", At: "/content/*/caller", Rule: "required", Reason: "Only models call."}
	reply := map[string]int{"small, POST /v1/messages, reply": 1}
	tests := []struct {
		name, url   string
		status      int
		contentType string
		body        string
		want        string // in the error; empty: none
		seen        map[string]int
		used        int // of the exception
	}{
		{
			"reply", "/v1/messages", 200, "application/json", `{"id":"a","content":[]}`, "",
			reply, 0,
		},
		{
			"excepted", "/v1/messages", 200, "application/json", `{"id":"a","content":[{"type":"call","name":"f","input":{}}]}`, "",
			reply, 1,
		},
		{
			"an exception covers what it names", "/v1/messages", 200, "application/json", `{"id":"a","content":[{"type":"call","name":"f"}]}`,
			"/content/0/input breaks required", reply, 1,
		},
		{
			"second form", "/v1/messages?beta=true", 200, "application/json", `{"type":"text","text":"x"}`, "",
			reply, 0,
		},
		{
			"stream", "/v1/messages", 200, "text/event-stream", "data: {\"type\":\"x\"}\n\n: still there\n\ndata: {}\n\ndata: [DONE]\n\n",
			"/type breaks required", map[string]int{"small, POST /v1/messages, event": 2}, 0,
		},
		{
			"stream that the vendor does not have", "/v1/messages?beta=true", 200, "text/event-stream", "data: {}\n\n",
			"has no event", map[string]int{}, 0,
		},
		{
			"error", "/v1/messages", 400, "application/json", `{"id":"a","content":[]}`, "/error breaks required",
			map[string]int{"small, POST /v1/messages, error": 1}, 0,
		},
		{
			"error of no operation", "/v1/other", 404, "application/json", `{"error":{}}`, "",
			map[string]int{"small, POST /v1/other, error": 1}, 0,
		},
	}
	v := loadSmallVendor(t)
	document, err := openapi.Anthropic()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &vendorCheck{
				referee: &referee{vendors: map[string]*vendor{"small": v}, exceptions: []exception{call}},
				counts:  newVendorCounts(),
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, tt.url, nil)
			operation, _ := document.Match(r.Method, r.URL.Path)
			err := c.check("small", operation, r, tt.status, http.Header{"Content-Type": {tt.contentType}}, []byte(tt.body))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
			if diff := cmp.Diff(tt.seen, c.counts.Seen); diff != "" {
				t.Errorf("seen: -want +got\n%s", diff)
			}
			if got := c.counts.Used[call.String()]; got != tt.used {
				t.Errorf("the exception was used %d times, want %d", got, tt.used)
			}
		})
	}
}

func TestCounts(t *testing.T) {
	folder := t.TempDir()
	for range 2 {
		c := vendorCounts{Seen: map[string]int{"x": 1, "y": 2}, Used: map[string]int{"a": 1}}
		if err := c.write(folder); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readCounts(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := vendorCounts{Seen: map[string]int{"x": 2, "y": 4}, Used: map[string]int{"a": 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestExceptions checks that the committed list can be read and names only
// what there is.
func TestExceptions(t *testing.T) {
	exceptions, err := readExceptions()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range exceptions {
		isPart := slices.Contains([]part{partReply, partEvent, partError}, part(e.Part))
		if !slices.Contains([]string{"openai", "anthropic"}, e.Style) || !isPart || !strings.HasPrefix(e.At, "/") || e.Rule == "" {
			t.Errorf("%v names no style, part, pointer or rule", e)
		}
	}
}
