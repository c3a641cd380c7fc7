package runner

import (
	"errors"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/diglot/diglot/engine"
)

// message is what a process sends: an [engine.Event] or one of the types below.
type message any

type (
	// accepted is the first message of a reply. A connection that is lost before is
	// not the request's fault.
	accepted struct{}

	// heartbeat shows that the engine makes progress, and how far it is; see
	// [Stepper].
	heartbeat struct{ step, of int }

	// payload announces that size bytes follow the frame. The next message describes
	// them.
	payload struct{ size int }

	// prompt announces the prompt of the Start that follows.
	prompt struct{ size int }

	// The last message of a call is one of these.
	endOfEvents   struct{}
	errorReply    struct{ wireError }
	modelList     struct{ models []engine.Model }
	tokenCount    struct{ n int }
	embeddingInfo struct{ count, dimensions, tokens int }
)

// isLast reports whether m ends a call.
func isLast(m message) bool {
	switch m.(type) {
	case endOfEvents, errorReply, modelList, tokenCount, embeddingInfo:
		return true
	}
	return false
}

// codec encodes and decodes messages of one type.
type codec struct {
	of    reflect.Type
	write func(*writer, message)
	read  func(*reader) message
}

func codecOf[T any](each func(fields, *T)) codec {
	return codec{
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

// codecs are indexed by message type number.
var codecs = []codec{
	codecOf(func(fields, *accepted) {}),
	codecOf(func(f fields, m *heartbeat) { numbers(f, &m.step, &m.of) }),
	codecOf(func(fields, *endOfEvents) {}),
	codecOf(func(f fields, m *payload) { f.number(&m.size) }),
	codecOf(func(f fields, m *prompt) { f.number(&m.size) }),
	codecOf(func(f fields, m *errorReply) { errorFields(f, &m.wireError) }),
	codecOf(func(f fields, m *modelList) { list(f, &m.models, modelFields) }),
	codecOf(func(f fields, m *tokenCount) { f.number(&m.n) }),
	codecOf(func(f fields, m *embeddingInfo) { numbers(f, &m.count, &m.dimensions, &m.tokens) }),
	codecOf(func(f fields, e *engine.Preview) { f.number(&e.Index); drawnFields(f, &e.Drawn) }),
	codecOf(drawnFields),
	codecOf(startFields),
	codecOf(func(f fields, e *engine.BlockStart) {
		numbers(f, &e.Choice, &e.Index)
		texts(f, (*string)(&e.Kind), &e.CallID, &e.Name)
	}),
	codecOf(func(f fields, e *engine.TextDelta) {
		numbers(f, &e.Choice, &e.Index)
		f.text(&e.Text)
		list(f, &e.Logprobs, tokenFields)
	}),
	codecOf(func(f fields, e *engine.ReasoningDelta) { numbers(f, &e.Choice, &e.Index); f.text(&e.Text) }),
	codecOf(func(f fields, e *engine.ToolCallDelta) { numbers(f, &e.Choice, &e.Index); f.text(&e.Arguments) }),
	codecOf(func(f fields, e *engine.BlockStop) { numbers(f, &e.Choice, &e.Index) }),
	codecOf(func(f fields, e *engine.Finish) { f.number(&e.Choice); texts(f, (*string)(&e.Reason), &e.StopSequence) }),
	codecOf(func(f fields, e *engine.Done) {
		u := &e.Usage
		numbers(f, &u.PromptTokens, &u.CachedTokens, &u.CompletionTokens, &u.ReasoningTokens)
	}),
}

// codecIndex has the index of each message type.
var codecIndex = func() map[reflect.Type]byte {
	numbers := make(map[reflect.Type]byte, len(codecs))
	for i, f := range codecs {
		numbers[f.of] = byte(i)
	}
	return numbers
}()

// startFields encodes all fields but Prompt, which is sent as bytes.
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

// tokenFields encodes a token and its alternatives, which have none themselves.
func tokenFields(f fields, t *engine.TokenLogprob) {
	alternativeFields(f, t)
	list(f, &t.Top, alternativeFields)
}

func alternativeFields(f fields, t *engine.TokenLogprob) {
	f.bytes(&t.Token)
	f.float(&t.Logprob)
}

// drawnFields encodes all fields but the image's data, which is a payload.
func drawnFields(f fields, d *engine.Drawn) {
	numbers(f, &d.Choice, &d.Width, &d.Height)
	texts(f, &d.Image.MediaType, &d.Quality, &d.Background)
	u := &d.Usage
	numbers(f, &u.InputTokens, &u.OutputTokens, &u.TextTokens, &u.ImageTokens)
}

func modelFields(f fields, m *engine.Model) {
	texts(f, &m.Name, &m.Owner)
	f.timestamp(&m.Changed)
	f.number(&m.Context)
	f.flag(&m.TextOnly)
	f.flag(&m.Draws)
}

// wireError is engine.Error with the cause as text.
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

// toWireError truncates the texts of an error.
func toWireError(err error) wireError {
	e := *engine.AsError(err)
	w := wireError{}
	if e.Err != nil {
		w.cause = truncate(e.Err.Error())
	}
	e.Message, e.Param, e.Detail, e.Err = truncate(e.Message), truncate(e.Param), truncate(e.Detail), nil
	e.Place = shortPlace(e.Place)
	w.coded = e
	return w
}

func truncate(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) <= engine.MaxText {
		return text
	}
	return strings.ToValidUTF8(text[:engine.MaxText], "")
}

// shortPlace drops a path that is too long.
func shortPlace(p engine.Place) engine.Place {
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
