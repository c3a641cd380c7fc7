package library

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/diglot/diglot/engine"
)

// Generate implements [engine.Engine]. The model's Modelfile has the defaults of
// the request.
func (e *Engine) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		r, err := e.acquire(ctx, req.Model)
		if err != nil {
			yield(nil, err)
			return
		}
		defer e.release(r)
		full := r.complete(req)
		for event, err := range r.instance.Generate(ctx, full) {
			if !yield(asClientAsked(event, req), asClientSees(err, req, len(full.Messages))) {
				return
			}
		}
	}
}

// Count implements [engine.Engine].
func (e *Engine) Count(ctx context.Context, req *engine.Request) (int, error) {
	r, err := e.acquire(ctx, req.Model)
	if err != nil {
		return 0, err
	}
	defer e.release(r)
	full := r.complete(req)
	n, err := r.instance.Count(ctx, full)
	return n, asClientSees(err, req, len(full.Messages))
}

// Embed implements [engine.Engine].
func (e *Engine) Embed(ctx context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	r, err := e.acquire(ctx, req.Model)
	if err != nil {
		return nil, err
	}
	defer e.release(r)
	named := *req
	named.Model = r.name
	return r.instance.Embed(ctx, &named)
}

// GenerateImages implements [engine.Engine].
func (e *Engine) GenerateImages(ctx context.Context, req *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		r, err := e.acquire(ctx, req.Model)
		if err != nil {
			yield(nil, err)
			return
		}
		defer e.release(r)
		named := *req
		named.Model = r.name
		r.definition.ApplyImage(&named)
		r.instance.GenerateImages(ctx, &named)(yield)
	}
}

// complete returns a copy of the request with the defaults of the Modelfile.
func (r *resident) complete(req *engine.Request) *engine.Request {
	full := *req
	r.definition.Apply(&full)
	full.Model = r.name
	return &full
}

// asClientAsked turns a stop at a stop string of the Modelfile, which the client does
// not know, into an ordinary end.
func asClientAsked(event engine.Event, req *engine.Request) engine.Event {
	f, ok := event.(engine.Finish)
	if !ok || f.Reason != engine.FinishStopSequence || slices.Contains(req.Stop, f.StopSequence) {
		return event
	}
	f.Reason, f.StopSequence = engine.FinishEndOfTurn, ""
	return f
}

// asClientSees corrects the message index in an error for the messages that the
// Modelfile inserted before the first turn that is not an instruction. sent is the
// number of messages with these.
func asClientSees(err error, req *engine.Request, sent int) error {
	var wrong *engine.Error
	added := sent - len(req.Messages)
	if added == 0 || !errors.As(err, &wrong) || wrong.Place.Field != engine.FieldMessages {
		return err
	}
	first := slices.IndexFunc(req.Messages, func(m engine.Message) bool {
		return !m.Role.Instructs()
	})
	if first < 0 {
		first = len(req.Messages)
	}
	moved := *wrong
	switch i := wrong.Place.Index; {
	case i >= first+added:
		moved.Place.Index -= added
	case i >= first:
		moved.Place = engine.Place{Field: engine.FieldModel} // a message of the Modelfile
	}
	return &moved
}
