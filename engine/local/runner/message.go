package runner

import (
	"errors"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/diglot/diglot/engine"
)

// message is what a process sends, one or more to a call: an [engine.Event],
// or one of the types below.
type message any

type (
	// taken is the first message to any request: a connection that is lost before
	// it is known to be no fault of the request.
	taken struct{}

	// beat is nothing but a sign of progress.
	beat struct{}

	// bulk says that so many bytes follow behind the frame, vectors or pictures:
	// the next message tells.
	bulk struct{ size int }

	// prompt says the same of the prompt of the Start that follows.
	prompt struct{ size int }

	// ended says that no more events come for the call. It is its last message,
	// and so is each of those below.
	ended    struct{}
	refused  struct{ wireError }
	listed   struct{ models []engine.Model }
	counted  struct{ n int }
	embedded struct{ count, dimensions, tokens int }
	drawn    struct{ pictures []drawing }
)

// drawing is one of the pictures that the bytes before it are made of.
type drawing struct {
	size      int
	mediaType string
}

// isLast reports whether nothing more comes for a call.
func isLast(m message) bool {
	switch m.(type) {
	case ended, refused, listed, counted, embedded, drawn:
		return true
	}
	return false
}

// form is how messages of one type are written and read.
type form struct {
	of    reflect.Type
	write func(*writer, message)
	read  func(*reader) message
}

func formOf[T any](each func(fields, *T)) form {
	return form{
		of: reflect.TypeFor[T](),
		write: func(w *writer, m message) {
			v := m.(T)
			each(w, &v)
		},
		read: func(r *reader) message {
			var v T
			each(r, &v)
			return v
		},
	}
}

// forms are those of all messages; the place of one is its number.
var forms = []form{
	formOf(func(fields, *taken) {}),
	formOf(func(fields, *beat) {}),
	formOf(func(fields, *ended) {}),
	formOf(func(f fields, m *bulk) { f.number(&m.size) }),
	formOf(func(f fields, m *prompt) { f.number(&m.size) }),
	formOf(func(f fields, m *refused) { errorFields(f, &m.wireError) }),
	formOf(func(f fields, m *listed) { list(f, &m.models, modelFields) }),
	formOf(func(f fields, m *counted) { f.number(&m.n) }),
	formOf(func(f fields, m *embedded) { numbers(f, &m.count, &m.dimensions, &m.tokens) }),
	formOf(func(f fields, m *drawn) { list(f, &m.pictures, drawingFields) }),
	formOf(startFields),
	formOf(func(f fields, e *engine.BlockStart) {
		numbers(f, &e.Choice, &e.Index)
		texts(f, (*string)(&e.Kind), &e.CallID, &e.Name)
	}),
	formOf(func(f fields, e *engine.TextDelta) {
		numbers(f, &e.Choice, &e.Index)
		f.text(&e.Text)
		list(f, &e.Logprobs, tokenFields)
	}),
	formOf(func(f fields, e *engine.ReasoningDelta) { numbers(f, &e.Choice, &e.Index); f.text(&e.Text) }),
	formOf(func(f fields, e *engine.ToolCallDelta) { numbers(f, &e.Choice, &e.Index); f.text(&e.Arguments) }),
	formOf(func(f fields, e *engine.BlockStop) { numbers(f, &e.Choice, &e.Index) }),
	formOf(func(f fields, e *engine.Finish) { f.number(&e.Choice); texts(f, (*string)(&e.Reason), &e.StopSequence) }),
	formOf(func(f fields, e *engine.Done) {
		u := &e.Usage
		numbers(f, &u.PromptTokens, &u.CachedTokens, &u.CompletionTokens, &u.ReasoningTokens)
	}),
}

// numberOf finds the form of a message.
var numberOf = func() map[reflect.Type]byte {
	numbers := make(map[reflect.Type]byte, len(forms))
	for i, f := range forms {
		numbers[f.of] = byte(i)
	}
	return numbers
}()

// startFields leave out the prompt, which is sent in bulk.
func startFields(f fields, e *engine.Start) {
	f.number(&e.PromptTokens)
	list(f, &e.Unenforced, placeFields)
	list(f, &e.Ignored, fields.text)
	f.number(&e.Dropped)
	samplingFields(f, &e.Used.Sampling)
	optional(f, &e.Used.MaxTokens, fields.number)
	texts(f, (*string)(&e.Used.Reasoning.Mode), &e.Used.Reasoning.Effort)
	f.flag(&e.Used.Truncate)
}

func placeFields(f fields, p *engine.Place) {
	f.text((*string)(&p.Field))
	f.number(&p.Index)
	f.text(&p.Path)
}

// tokenFields are those of a token and, one level deep, its alternatives.
func tokenFields(f fields, t *engine.TokenLogprob) {
	alternativeFields(f, t)
	list(f, &t.Top, alternativeFields)
}

func alternativeFields(f fields, t *engine.TokenLogprob) {
	f.bytes(&t.Token)
	f.real(&t.Logprob)
}

func drawingFields(f fields, d *drawing) {
	f.number(&d.size)
	f.text(&d.mediaType)
}

func modelFields(f fields, m *engine.Model) {
	texts(f, &m.Name, &m.Owner)
	f.moment(&m.Changed)
	f.number(&m.Context)
	f.flag(&m.Blind)
}

// wireError is engine.Error with its cause as text, for the log.
type wireError struct {
	coded engine.Error // its Err is nil
	cause string
}

func errorFields(f fields, w *wireError) {
	e := &w.coded
	texts(f, (*string)(&e.Code), &e.Message, &e.Param, &e.Detail, &w.cause)
	placeFields(f, &e.Place)
	numbers(f, &e.RetryAfter, &e.Tokens, &e.Limit)
	f.flag(&e.NoRetry)
}

// toWireError cuts the texts of an error to what is allowed.
func toWireError(err error) wireError {
	e := *engine.AsError(err)
	w := wireError{}
	if e.Err != nil {
		w.cause = cut(e.Err.Error())
	}
	e.Message, e.Param, e.Detail, e.Err = cut(e.Message), cut(e.Param), cut(e.Detail), nil
	e.Place = shortened(e.Place)
	w.coded = e
	return w
}

// cut cuts a text to what an error may have.
func cut(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) <= engine.MaxText {
		return text
	}
	return strings.ToValidUTF8(text[:engine.MaxText], "")
}

// shortened leaves out a path that is too long to be told: what it leads into
// is told then.
func shortened(p engine.Place) engine.Place {
	if len(p.Path) > engine.MaxText || !utf8.ValidString(p.Path) {
		p.Path = ""
	}
	return p
}

func (w wireError) err() *engine.Error {
	e := w.coded
	if w.cause != "" {
		e.Err = errors.New(w.cause)
	}
	return &e
}
