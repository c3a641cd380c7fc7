//go:build llamacpp && cgo

package llamacpp

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/cassettes"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// The targets below send whole requests through all that is ours: handlers,
// document, template, tokenizer, grammar, sampler, loop, format, encoder. Only
// the weights are dice. `go run ./tools/check long` fuzzes each for a while;
// every other run of the tests sends their seeds and what they once found.

func FuzzWholeChat(f *testing.F)        { fuzzWhole(f, "/v1/chat/completions") }
func FuzzWholeCompletions(f *testing.F) { fuzzWhole(f, "/v1/completions") }
func FuzzWholeResponses(f *testing.F)   { fuzzWhole(f, "/v1/responses") }
func FuzzWholeMessages(f *testing.F)    { fuzzWhole(f, "/v1/messages") }
func FuzzWholeCount(f *testing.F)       { fuzzWhole(f, "/v1/messages/count_tokens") }
func FuzzWholeEmbeddings(f *testing.F)  { fuzzWhole(f, "/v1/embeddings") }

// wholeModels are what is asked: a model file, and a template of the corpus or
// the file's own.
var wholeModels = []struct{ file, template string }{
	{smallest, ""},
	{"qwen2.5-coder-0.5b", ""},
	{"qwen2.5-coder-0.5b", "Qwen-Qwen3-0.6B.jinja"},
	{smallest, "meta-llama-Llama-3.1-8B-Instruct.jinja"},
	{smallest, "mistralai-Mistral-Nemo-Instruct-2407.jinja"},
	{smallest, "openai-gpt-oss-120b.jinja"},
	{smallest, "deepseek-ai-DeepSeek-V3.1.jinja"},
	{"qwen2.5-coder-0.5b", "GLM-4.6.jinja"},
}

// What a request may take.
const (
	wholeTime     = 30 * time.Second // of a machine that does much else
	wholeHeap     = 64 << 20         // bytes that are allocated in all
	heapPerByte   = 400              // more for each of the body
	heapPerPiece  = 48 << 10         // more for each token that is generated
	leavingPieces = 64               // that may still come after a client has left
)

// house is one model behind the handlers.
type house struct {
	name    string
	model   *shown
	handler http.Handler
	took    uint64 // bytes that the last request allocated, the checks of its reply aside
}

// measured notes what next allocates.
func (h *house) measured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before := allocated()
		defer func() { h.took = allocated() - before }()
		next.ServeHTTP(w, r)
	})
}

// relay is the test of the input that is being tried.
type relay struct {
	testing.TB
	now *testing.T
}

func (r *relay) Errorf(format string, args ...any) { r.now.Errorf(format, args...) }
func (r *relay) Helper()                           {}

func openHouses(f *testing.F, tb *relay) []*house {
	f.Helper()
	var all []*house
	for _, m := range wholeModels {
		w := &shown{Model: openDice(f, modelFile(f, m.file)), idle: make(chan struct{}, 1)}
		if m.template != "" {
			w.template = corpusTemplate(f, m.template)
		}
		log := slog.New(slog.DiscardHandler)
		e, err := chat.New(w, log, func() time.Time { return time.Unix(1700000000, 0) })
		if err != nil {
			f.Fatal(err)
		}
		h, err := handlers.New(handlers.Config{Engine: e, Log: log})
		if err != nil {
			f.Fatal(err)
		}
		one := &house{name: m.file + " " + m.template, model: w}
		one.handler = handlerstest.Contract(tb, one.measured(h))
		all = append(all, one)
	}
	return all
}

// corpusTemplate is a template that tools/templates has fetched.
func corpusTemplate(f *testing.F, name string) string {
	f.Helper()
	folder := os.Getenv("DIGLOT_TEMPLATES")
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			f.Fatal(err)
		}
		folder = filepath.Join(cache, "diglot", "templates")
	}
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		f.Fatalf("%v\nget it with: go run ./tools/templates", err)
	}
	return string(text)
}

// fuzzWhole sends bodies to one operation. The first byte of a plan chooses
// the model, the second what is looked at, the others change the body.
func fuzzWhole(f *testing.F, path string) {
	tb := &relay{TB: f}
	houses := openHouses(f, tb)
	for i, body := range wholeSeeds(f, path) {
		switch i % 3 {
		case 0:
			f.Add(spelled(body, wholeTexts[i/3%len(wholeTexts)]), []byte{byte(i)})
		case 1:
			f.Add(body, []byte{byte(i), byte(i / len(houses))})
		case 2:
			f.Add(body, []byte{byte(i), byte(i / 5), byte(i * 7), byte(i * 31), byte(i * 5), byte(i * 11), byte(i * 3), byte(i * 13), byte(i * 17)})
		}
	}
	tried, answered := 0, 0
	f.Cleanup(func() {
		if tried > 100 && answered < tried/10 {
			f.Errorf("%d of %d requests were answered", answered, tried)
		}
	})
	f.Fuzz(func(t *testing.T, body, plan []byte) {
		tb.now = t
		r := &recipe{plan}
		h := houses[r.next(len(houses))]
		look := r.next(3)
		c := &wholeCase{t: t, house: h, path: path}
		if c.root, _ = readNode(body); c.root == nil {
			if !mayFetch(string(body)) {
				c.post(t.Context(), body)
			}
			return
		}
		c.root.set("model", `"m"`)
		mutate(c.root, r)
		c.root.eachText(keepHome)
		if body = c.root.write(nil); len(body) > mostMutated {
			return
		}
		tried++
		if w := c.post(t.Context(), body); w.Code == http.StatusOK {
			answered++
			c.look(look)
		}
	})
}

// mayFetch reports whether text could name an image that is elsewhere.
func mayFetch(text string) bool { return strings.Contains(strings.ToLower(text), "http") }

// keepHome makes no request of a test leave this machine.
func keepHome(text string) string {
	if mayFetch(text) {
		return "http://127.0.0.1:9/none.png"
	}
	return text
}

// wholeSeeds are the bodies that SDKs send to an operation, and the cases that
// follow from its document.
func wholeSeeds(f *testing.F, path string) [][]byte {
	f.Helper()
	var all [][]byte
	add := func(body []byte) {
		if len(body) > 0 && !slices.ContainsFunc(all, func(b []byte) bool { return bytes.Equal(b, body) }) {
			all = append(all, body)
		}
	}
	recorded, err := cassettes.Load()
	if err != nil {
		f.Fatal(err)
	}
	var examples [][]byte
	for _, c := range recorded {
		for _, i := range c.Interactions {
			if at, _, _ := strings.Cut(i.Request.URL, "?"); at == path {
				add([]byte(i.Request.Body))
				examples = append(examples, []byte(i.Request.Body))
			}
		}
	}
	for _, load := range []func() (*openapi.Document, error){openapi.OpenAI, openapi.Anthropic} {
		d, err := load()
		if err != nil {
			f.Fatal(err)
		}
		o, ok := d.Route(http.MethodPost, path)
		if !ok || o.Path != path {
			continue
		}
		cases, err := conformance.Cases(o, examples...)
		if err != nil {
			f.Fatal(err)
		}
		for i, c := range cases {
			if i%4 == 0 { // the document's own test sends them all
				add(c.Body)
			}
		}
	}
	if len(all) < 8 {
		f.Fatalf("%d seeds for %s", len(all), path)
	}
	return all
}

// spelled puts a text into each string of a body that has a blank in it: into
// what is said, not into what is named.
func spelled(body []byte, text string) []byte {
	root, err := readNode(body)
	if err != nil {
		return body
	}
	root.eachText(func(s string) string {
		return strings.Replace(s, " ", " "+text+" ", 1)
	})
	return root.write(nil)
}

// wholeCase is one body on its way.
type wholeCase struct {
	t     *testing.T
	house *house
	path  string
	root  *node
}

// post sends a body and holds what every reply must keep.
func (c *wholeCase) post(ctx context.Context, body []byte) *httptest.ResponseRecorder {
	c.t.Helper()
	c.house.model.reset()
	w := httptest.NewRecorder()
	c.serve(ctx, body, w)
	_, pieces, _ := c.house.model.seen()
	if took, most := c.house.took, uint64(wholeHeap+heapPerByte*len(body)+heapPerPiece*pieces); took > most {
		c.t.Errorf("%s: %d bytes were allocated for a body of %d and %d tokens, want %d at most\n%.2000s", c.house.name, took, len(body), pieces, most, body)
	}
	if w.Code >= 500 && w.Code != http.StatusServiceUnavailable && w.Code != 529 || brokeOff(w.Body.Bytes()) {
		c.t.Errorf("%s: status %d\n%.2000s\n%s", c.house.name, w.Code, body, w.Body)
	}
	return w
}

// serve sends a body, and fails where the answer takes too long, or where work
// goes on behind it.
func (c *wholeCase) serve(ctx context.Context, body []byte, w http.ResponseWriter) {
	ctx, cancel := context.WithTimeout(ctx, wholeTime)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, c.path, bytes.NewReader(body))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	c.house.handler.ServeHTTP(w, r)
	late, stop := context.WithTimeout(c.t.Context(), wholeTime)
	defer stop()
	if !c.house.model.rest(late) {
		c.t.Errorf("%s: the answer is over, and work goes on\n%.2000s", c.house.name, body)
	}
	if context.Cause(ctx) == context.DeadlineExceeded {
		c.t.Errorf("%s: an answer takes more than %v\n%.2000s", c.house.name, wholeTime, body)
	}
}

// brokeOff reports whether a stream has an error of the server's in it.
func brokeOff(reply []byte) bool {
	if !bytes.HasPrefix(reply, []byte("data:")) && !bytes.HasPrefix(reply, []byte("event:")) {
		return false
	}
	for frame := range bytes.SplitSeq(reply, []byte("\n\n")) {
		if bytes.HasPrefix(frame, []byte("event: error\n")) || bytes.HasPrefix(frame, []byte(`data: {"error":`)) || bytes.HasPrefix(frame, []byte("event: response.failed\n")) {
			return true
		}
	}
	return false
}

// allocated is how many bytes of heap were ever taken.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// look holds one of the properties that need a second request.
func (c *wholeCase) look(which int) {
	c.t.Helper()
	g := c.generation()
	switch {
	case which == 0 || g == nil:
		c.controlTokens()
	case which == 1:
		c.streamIsWhole(g)
	default:
		c.leave()
	}
}

func (c *wholeCase) generation() *handlerstest.Generation {
	for _, g := range handlerstest.Generations() {
		if g.Path == c.path {
			return &g
		}
	}
	return nil
}

// controlTokens holds that no text of the client's becomes a control token: a
// body where each spelling is broken makes a prompt with the same ones.
func (c *wholeCase) controlTokens() {
	c.t.Helper()
	if c.path == "/v1/completions" {
		return // who sends a raw prompt is its template
	}
	_, _, with := c.house.model.seen()
	broken := c.root.copied()
	spelled := false
	broken.eachText(func(text string) string {
		for token := range int32(c.house.model.Vocabulary().Size()) {
			if !c.house.model.Vocabulary().Is(token, decode.KindControl) {
				continue
			}
			spelling := string(c.house.model.Vocabulary().Bytes(token))
			if len(spelling) > 3 && strings.Contains(text, spelling) {
				spelled = true
				text = strings.ReplaceAll(text, spelling, strings.Repeat("x", len(spelling)))
			}
		}
		return text
	})
	if !spelled {
		return
	}
	body := broken.write(nil)
	if w := c.post(c.t.Context(), body); w.Code != http.StatusOK {
		return // what is a name must be one
	}
	if _, _, without := c.house.model.seen(); !slices.Equal(with, without) {
		c.t.Errorf("%s: a text of the client's has become a control token\n%.4000s", c.house.name, c.root.write(nil))
	}
}

// streamIsWhole holds that a stream folds to the reply that is not streamed.
func (c *wholeCase) streamIsWhole(g *handlerstest.Generation) {
	c.t.Helper()
	root := c.root.copied()
	root.set("temperature", "0")
	if root.has("stream_options") || root.has("best_of") { // are for one kind alone
		return
	}
	root.set("stream", "false")
	w := c.post(c.t.Context(), root.write(nil))
	root.set("stream", "true")
	s := c.post(c.t.Context(), root.write(nil))
	if w.Code != s.Code {
		c.t.Errorf("%s: status %d, streamed %d\n%.2000s", c.house.name, w.Code, s.Code, root.write(nil))
	}
	if w.Code != http.StatusOK || s.Code != http.StatusOK {
		return
	}
	whole, err := g.Whole(w.Body.Bytes())
	if err != nil {
		c.t.Errorf("%s: %v\n%s", c.house.name, err, w.Body)
	}
	folded, err := g.Fold(s.Body.Bytes())
	if err != nil {
		c.t.Errorf("%s: %v\n%s", c.house.name, err, s.Body)
	}
	if diff := cmp.Diff(comparable(whole), comparable(folded)); diff != "" {
		c.t.Errorf("%s: -whole +stream\n%s\n%.2000s", c.house.name, diff, root.write(nil))
	}
}

// comparable leaves out what differs from request to request.
func comparable(all []handlerstest.Answer) []handlerstest.Answer {
	for i := range all {
		for j := range all[i].Blocks {
			b := &all[i].Blocks[j]
			if b.ID != "" {
				b.ID = "id"
			}
			b.Text = handlerstest.CanonicalJSON(b.Text)
		}
	}
	return all
}

// leave holds that the work ends with the client.
func (c *wholeCase) leave() {
	c.t.Helper()
	root := c.root.copied()
	root.set("stream", "true")
	c.house.model.reset()
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	w := &leaver{ResponseRecorder: httptest.NewRecorder(), model: c.house.model, leave: cancel}
	c.serve(ctx, root.write(nil), w)
	if _, pieces, _ := c.house.model.seen(); w.left && pieces > w.pieces+leavingPieces {
		c.t.Errorf("%s: when the client left there were %d tokens, and in the end %d\n%.2000s",
			c.house.name, w.pieces, pieces, root.write(nil))
	}
}

// leaver is a client that goes away with the first byte of a reply.
type leaver struct {
	*httptest.ResponseRecorder
	model  *shown
	leave  func()
	left   bool
	pieces int
}

func (l *leaver) Write(b []byte) (int, error) {
	if !l.left {
		l.left = true
		l.leave()
		_, l.pieces, _ = l.model.seen()
	}
	return l.ResponseRecorder.Write(b)
}
