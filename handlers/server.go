package handlers

import (
	"log/slog"
	"net/http"
	"time"
)

const (
	// headerTimeout is how long a client may take to send its headers. For
	// bodies and replies see [Config.Stall].
	headerTimeout = 10 * time.Second

	// idleTimeout is how long a connection may have no request.
	idleTimeout = 2 * time.Minute

	// maxHeader is the most bytes of all headers of a request.
	maxHeader = 64 << 10
)

// NewServer returns the server of a handler for connections that a listener of
// [Connections.Listen] accepts. It speaks HTTP/1 alone: HTTP/2 is for TLS,
// which is for a proxy in front.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:                      h,
		Protocols:                    protocols,
		ReadHeaderTimeout:            headerTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHeader,
		DisableGeneralOptionsHandler: true, // OPTIONS * is a path like others
		ConnContext:                  withConnection,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
