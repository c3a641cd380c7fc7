package control

import (
	"time"

	"github.com/diglot/diglot/engine"
)

// The paths of the commands.
const (
	pathLoaded  = "/control/loaded"
	pathLoad    = "/control/load"
	pathStop    = "/control/stop"
	pathVersion = "/control/version"
	pathDraws   = "/control/draws"
)

// Model is a loaded model.
type Model struct {
	Name     string     `json:"name"`             // the first that a request used
	Others   []string   `json:"others,omitempty"` // other names that requests used
	Digest   string     `json:"digest"`           // of its manifest; empty: from --model
	Size     int64      `json:"size"`             // planned memory in bytes; 0: waiting for it, or remote
	Context  int        `json:"context"`          // tokens per request; 0: unknown
	Until    *time.Time `json:"until,omitempty"`  // when it is unloaded if idle; nil: in use, or never
	Requests int        `json:"requests"`         // running and waiting
	Loading  bool       `json:"loading"`          // not ready yet
	Stopping bool       `json:"stopping"`         // accepts no new requests, and is unloaded with the last one
	Remote   string     `json:"remote,omitempty"` // URL of a remote model's server
	Step     int        `json:"step,omitempty"`   // last finished one of the image that is being drawn
	Of       int        `json:"of,omitempty"`     // steps of that image; 0: none is drawn
}

// loadedReply lists the loaded models.
type loadedReply struct {
	Models []Model `json:"models"`
}

// modelRequest names a model.
type modelRequest struct {
	Model string `json:"model"`
}

// drawsReply tells what a model is for.
type drawsReply struct {
	Draws bool `json:"draws"`
}

// versionReply describes the server.
type versionReply struct {
	Version string `json:"version"`
	Models  string `json:"models"` // path of its model store; empty: none
}

// Error is an error of the server, for the user.
type Error struct {
	Code    engine.Code `json:"code"`
	Message string      `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// errorReply contains an Error.
type errorReply struct {
	Error *Error `json:"error"`
}
