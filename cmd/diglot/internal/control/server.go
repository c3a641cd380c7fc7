package control

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/library"
	"github.com/diglot/diglot/internal/plainjson"
)

// maxRequest bounds a request, in bytes: it contains a name.
const maxRequest = 64 << 10

// Library loads and unloads models.
type Library interface {
	// Load returns when the model is ready.
	Load(ctx context.Context, name string) error

	// Stop unloads the model when its requests have finished.
	Stop(ctx context.Context, name string) error

	// Draws reports whether the model is known to draw images.
	Draws(ctx context.Context, name string) (bool, error)

	// Loaded lists the loaded models.
	Loaded() []library.Loaded

	// Folder is the absolute path of the model store; empty: none.
	Folder() string
}

// Config configures the handler of the socket.
type Config struct {
	Library Library      // required
	API     http.Handler // the public API, for all paths but /control/

	// Paced wraps the handler of the commands, so that no client can occupy a
	// connection forever; required.
	Paced func(http.Handler) http.Handler

	Version string       // of the server
	Log     *slog.Logger // required
}

// New makes the handler for a listener of [Listen].
func New(c Config) http.Handler {
	s := &server{c}
	mux := http.NewServeMux()
	mux.Handle("/control/", c.Paced(s.commands()))
	mux.Handle("/", c.API)
	return mux
}

type server struct{ Config }

func (s *server) commands() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pathLoaded, s.loaded)
	mux.HandleFunc("POST "+pathLoad, s.named(s.Library.Load))
	mux.HandleFunc("POST "+pathDraws, s.about(s.draws))
	mux.HandleFunc("POST "+pathStop, s.named(s.Library.Stop))
	mux.HandleFunc("GET "+pathVersion, s.version)
	mux.HandleFunc("/control/", s.unknown)
	return mux
}

func (s *server) loaded(w http.ResponseWriter, _ *http.Request) {
	reply := loadedReply{Models: []Model{}}
	for _, l := range s.Library.Loaded() {
		reply.Models = append(reply.Models, fromLoaded(l))
	}
	s.reply(w, http.StatusOK, reply)
}

func (s *server) version(w http.ResponseWriter, _ *http.Request) {
	s.reply(w, http.StatusOK, versionReply{Version: s.Version, Models: s.Library.Folder()})
}

// named handles a request for one model.
func (s *server) named(do func(context.Context, string) error) http.HandlerFunc {
	return s.about(func(ctx context.Context, name string) (any, error) { return struct{}{}, do(ctx, name) })
}

// about handles a question about one model.
func (s *server) about(ask func(context.Context, string) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in modelRequest
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err == nil {
			err = json.Unmarshal(body, &in)
		}
		if err != nil {
			s.fail(w, engine.Errorf(engine.CodeInvalidArgument, "The request is not JSON with a model name.").Because(err))
			return
		}
		reply, err := ask(r.Context(), in.Model)
		if err != nil {
			s.fail(w, engine.AsError(err))
			return
		}
		s.reply(w, http.StatusOK, reply)
	}
}

func (s *server) draws(ctx context.Context, name string) (any, error) {
	draws, err := s.Library.Draws(ctx, name)
	return drawsReply{draws}, err
}

// unknown answers commands of other versions of the program.
func (s *server) unknown(w http.ResponseWriter, r *http.Request) {
	s.fail(w, engine.Errorf(engine.CodeNotFound, "The running server, version %s, does not support %s %s.", s.Version, r.Method, r.URL.Path))
}

// fail sends an error without its cause, which is for the log.
func (s *server) fail(w http.ResponseWriter, err *engine.Error) {
	status := http.StatusBadRequest
	switch err.Code {
	case engine.CodeNotFound, engine.CodeModelNotFound:
		status = http.StatusNotFound
	case engine.CodeInternal, engine.CodeEngineCrashed:
		status = http.StatusInternalServerError
		s.Log.Error("command failed", "err", err)
	case engine.CodeOverloaded:
		status = http.StatusServiceUnavailable
	}
	s.reply(w, status, errorReply{&Error{Code: err.Code, Message: err.Message}})
}

func (s *server) reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	text, err := plainjson.Marshal(body)
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	if err != nil {
		s.Log.Debug("the command disconnected", "err", err)
	}
}

func fromLoaded(l library.Loaded) Model {
	m := Model{
		Name:     l.Name,
		Others:   l.Others,
		Digest:   l.Digest.String(),
		Size:     l.Size,
		Context:  l.Context,
		Requests: l.Requests,
		Loading:  l.Loading,
		Stopping: l.Stopping,
		Remote:   l.Remote,
		Step:     l.Step,
		Of:       l.Of,
	}
	if !l.Until.IsZero() {
		until := l.Until.Round(time.Second)
		m.Until = &until
	}
	return m
}
