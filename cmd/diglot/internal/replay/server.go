package replay

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/diglot/diglot/cmd/diglot/internal/replay/fault"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/mock"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/internal/budget"
	"github.com/diglot/diglot/internal/cassette"
	"github.com/diglot/diglot/openapi"
)

// Header is the reply header that says where a reply comes from.
const Header = "Diglot-Replay"

// Config configures a server.
type Config struct {
	Handlers   handlers.Config    // Engine and Wrap are set here
	Models     []string           // the names that are listed; none: "mock"
	OnlyModels bool               // no other names are served
	Recordings func() *Recordings // asked for each request that may be recorded; nil: none
	Faults     *fault.Rules       // nil: none
	Pace       time.Duration      // between the events of a stream; 0: as they come
}

// Limits of all requests together.
const (
	maxWaiting = 256      // requests whose fault takes time
	maxBodies  = 64 << 20 // bytes of bodies that are compared with recordings
)

// maxCompared is the largest body that is compared with recordings, and whose model is
// looked at.
const maxCompared = 1 << 20

// New returns the handler of a server.
func New(c Config) (http.Handler, error) {
	h := c.Handlers
	if h.Clock == nil {
		h.Clock = time.Now
	}
	if h.Profile == "" {
		h.Profile = openapi.ProfileDefault
	}
	model, err := mock.New(mock.Config{Models: c.Models, Only: c.OnlyModels, Log: h.Log, Clock: h.Clock})
	if err != nil {
		return nil, err
	}
	own, err := openapi.Embedded()
	if err != nil {
		return nil, err
	}
	if h.Documents.OpenAI == nil {
		h.Documents.OpenAI = own.OpenAI
	}
	if h.Documents.Anthropic == nil {
		h.Documents.Anthropic = own.Anthropic
	}
	if h.Documents, err = h.Documents.Narrow(h.Profile); err != nil {
		return nil, err
	}
	s := &server{Config: c, documents: h.Documents, clock: h.Clock, strict: h.Strict,
		waiting: semaphore.NewWeighted(maxWaiting), bodies: budget.New(maxBodies)}
	h.Engine, h.Wrap = fault.Engine(model), s.wrap
	return handlers.New(h)
}

type server struct {
	Config
	documents openapi.Documents
	clock     func() time.Time
	strict    bool
	waiting   *semaphore.Weighted
	bodies    *budget.Budget
}

// wrap puts recordings and faults before the operations of a style.
func (s *server) wrap(operations http.Handler, refuse handlers.Refuse) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		memory := s.bodies.Share()
		defer memory.Release()
		body, whole := peek(r, memory)
		f, err := s.fault(r, body)
		if err != nil {
			refuse(w, r, err)
			return
		}
		if f.Waits() {
			if !s.waiting.TryAcquire(1) {
				refuse(w, r, overloaded("Too many requests with stalls are running."))
				return
			}
			defer s.waiting.Release(1)
		}
		out := fault.NewWriter(r.Context(), w, s.Pace, f)
		s.answer(out, r, f, exchange{operations, refuse, body, whole})
		out.Finish()
	})
}

// exchange is what a request may be answered from.
type exchange struct {
	operations http.Handler
	refuse     handlers.Refuse
	body       []byte
	whole      bool // the body is
}

// answer writes a reply, up to where a recorded one broke off.
func (s *server) answer(w *fault.Writer, r *http.Request, f *fault.Fault, x exchange) {
	if f.Status != nil {
		if f.Slow > 0 {
			fault.Wait(r.Context(), f.Slow)
		}
		w.Header().Set(Header, "fault")
		out := &retryAfter{ResponseWriter: w, value: f.Status.RetryAfter}
		if f.Status.Code == http.StatusTooManyRequests {
			s.limited(out, r, f.Status)
			return
		}
		x.refuse(out, r, s.failure(r, f.Status))
		return
	}
	if found, ok := s.recorded(r, x.body, x.whole && !f.Made()); ok {
		w.Header().Set(Header, "recorded "+found.name)
		found.play(w, s.clock())
		return
	}
	w.Header().Set(Header, "mock")
	x.operations.ServeHTTP(w, r.WithContext(fault.With(r.Context(), f)))
}

func overloaded(message string) *engine.Error {
	err := engine.Errorf(engine.CodeOverloaded, "%s", message)
	err.RetryAfter = 1
	return err
}

// peek reads a body that is not too large to compare, and puts it back. whole reports
// whether that is all of it.
func peek(r *http.Request, memory *budget.Share) (body []byte, whole bool) {
	if r.Body == nil || r.ContentLength > maxCompared {
		return nil, false
	}
	var read bytes.Buffer
	for len(read.Bytes()) <= maxCompared {
		const step = 32 << 10
		if !memory.Reserve(2 * step) {
			break
		}
		n, err := io.CopyN(&read, r.Body, step)
		if err == io.EOF {
			whole = true
			break
		}
		if err != nil || n < step {
			break // the handlers will meet the same error
		}
	}
	r.Body = &restored{io.MultiReader(bytes.NewReader(read.Bytes()), r.Body), r.Body}
	return read.Bytes(), whole
}

// restored is a body of which the start was read.
type restored struct {
	io.Reader
	io.Closer
}

// fault returns what goes wrong with a request, at least an empty fault.
func (s *server) fault(r *http.Request, body []byte) (*fault.Fault, *engine.Error) {
	if lines := r.Header.Values(fault.Header); len(lines) > 0 {
		f, err := fault.Parse(lines...)
		if err != nil {
			return nil, engine.Errorf(engine.CodeInvalidArgument, "The header %s is wrong: %v.", fault.Header, err)
		}
		return f, nil
	}
	var named struct{ Model string }
	if s.Faults != nil {
		_ = json.Unmarshal(body, &named) // a body without a model matches no rule that names one
	}
	if f := s.Faults.Pick(fault.Request{Method: r.Method, Path: r.URL.Path, Model: named.Model}); f != nil {
		return f, nil
	}
	return &fault.Fault{}, nil
}

// failure is the document's error of a status. A status that the document does not have
// comes in the envelope of a like one.
func (s *server) failure(r *http.Request, status *fault.Status) *engine.Error {
	code, message := engine.CodeInvalidArgument, "This error was asked for."
	if status.Code >= http.StatusInternalServerError {
		code = engine.CodeInternal
	}
	if listed, ok := s.document(r).ErrorOf(status.Code, ""); ok && listed.Status == status.Code {
		name, _, _ := strings.Cut(listed.Name, ".")
		code, message = engine.Code(name), listed.Message
	}
	err := engine.Errorf(code, "%s", message)
	err.NoRetry = status.NoRetry
	return err
}

// document is that of a request's style.
func (s *server) document(r *http.Request) *openapi.Document {
	if document, ok := s.documents.ForPath(r.URL.Path); ok && document == s.documents.Anthropic ||
		!ok && r.Header.Get("Anthropic-Version") != "" {
		return s.documents.Anthropic
	}
	return s.documents.OpenAI
}

// recorded returns the recording of a request. A strict server has none: what it refuses
// was accepted in them.
func (s *server) recorded(r *http.Request, body []byte, possible bool) (recording, bool) {
	if !possible || s.strict || s.Recordings == nil || r.Header.Get("Prefer") != "" {
		return recording{}, false
	}
	return s.Recordings().find(keyOf(r.Method, r.RequestURI, r.Header, string(body)), s.document(r))
}

// played are the headers of recordings that are sent. All others are this server's own: a
// recording may say what a proxy or another server needs.
var played = cassette.DefaultScrub().Response

// play sends a recorded reply.
func (r recording) play(w *fault.Writer, now time.Time) {
	header := w.Header()
	for _, name := range played {
		if values := r.Response.Headers.Values(name); len(values) > 0 {
			header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
	w.WriteHeader(r.Response.Code)
	_, _ = io.WriteString(w, renew(r.plain(), header.Get("X-Request-Id"), now)) // fails only if the client has disconnected
	if r.Response.Aborted {
		w.Finish()
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler) // as the recorded server did
	}
}
