package handlers

import (
	"log/slog"
	"net/http"
	"time"
)

const (
	// headerTimeout is how long a client may take to send its headers. For bodies and
	// replies see [Config.Stall].
	headerTimeout = 10 * time.Second

	// idleTimeout is how long a connection may have no request.
	idleTimeout = 2 * time.Minute

	// maxHeader limits the headers of a request.
	maxHeader = 64 << 10
)

// NewServer returns a server for connections of [Connections.Listen]. It speaks HTTP/1
// only: HTTP/2 needs TLS, which is for a proxy in front.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:                      h,
		Protocols:                    protocols,
		ReadHeaderTimeout:            headerTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHeader,
		DisableGeneralOptionsHandler: true, // handle OPTIONS * like other paths
		ConnContext:                  withConnection,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
