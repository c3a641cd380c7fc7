package control

import (
	"time"

	"github.com/diglot/diglot/engine"
)

// The paths of what is not in the public API.
const (
	pathLoaded  = "/control/loaded"
	pathLoad    = "/control/load"
	pathStop    = "/control/stop"
	pathVersion = "/control/version"
)

// Model is a model that the server has loaded.
type Model struct {
	Name     string     `json:"name"`             // the first one that it was asked for by
	Others   []string   `json:"others,omitempty"` // other names that it was asked for by
	Digest   string     `json:"digest"`           // of its manifest; empty: a flag of the server names its file
	Size     int64      `json:"size"`             // bytes of memory, as planned; 0: it waits for them, or is served elsewhere
	Context  int        `json:"context"`          // tokens that one request may use; 0: not known
	Until    *time.Time `json:"until,omitempty"`  // when it goes unless it is used; nil: not before its requests end, or never
	Requests int        `json:"requests"`         // that use it, or wait for it
	Loading  bool       `json:"loading"`          // it is not ready yet
	Stopping bool       `json:"stopping"`         // it takes no new requests, and goes with its last one
	Remote   string     `json:"remote,omitempty"` // the server that it is served by; empty: this one
}

// loadedReply answers what is loaded.
type loadedReply struct {
	Models []Model `json:"models"`
}

// modelRequest names a model.
type modelRequest struct {
	Model string `json:"model"`
}

// versionReply says what the server is.
type versionReply struct {
	Version string `json:"version"`
	Models  string `json:"models"` // the folder of its model store; empty: none
}

// Error is what the server says is wrong, in words for the user.
type Error struct {
	Code    engine.Code `json:"code"`
	Message string      `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// errorReply carries an Error.
type errorReply struct {
	Error *Error `json:"error"`
}
