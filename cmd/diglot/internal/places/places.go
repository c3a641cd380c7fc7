// Package places finds the files of one user.
package places

import (
	"cmp"
	"errors"
	"path/filepath"
	"runtime"
)

// Places are the paths of one user's files.
type Places struct {
	home   string // empty: unknown
	models string // the store; empty: in home
	socket string // the control socket; empty: in home
}

// Find reads the variables that "diglot help environment" documents.
func Find(getenv func(string) string) Places {
	p := Places{home: getenv("DIGLOT_HOME"), models: getenv("DIGLOT_MODELS"), socket: getenv("DIGLOT_SOCKET")}
	if home := Home(getenv); p.home == "" && home != "" {
		p.home = filepath.Join(home, ".diglot")
	}
	return p
}

// Home is the user's home directory, or empty.
func Home(getenv func(string) string) string {
	return cmp.Or(getenv("HOME"), getenv("USERPROFILE")) // Windows
}

// Cache is the user's cache folder, as [os.UserCacheDir] has it; empty: unknown.
func Cache(getenv func(string) string) string {
	home := Home(getenv)
	switch {
	case runtime.GOOS == "windows":
		return getenv("LocalAppData")
	case runtime.GOOS != "darwin" && filepath.IsAbs(getenv("XDG_CACHE_HOME")):
		return getenv("XDG_CACHE_HOME")
	case home == "":
		return ""
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Caches")
	}
	return filepath.Join(home, ".cache")
}

// ModelsDir is the directory of the model store.
func (p Places) ModelsDir() (string, error) { return p.or(p.models, "models", "DIGLOT_MODELS") }

// SocketPath is the control socket of the server.
func (p Places) SocketPath() (string, error) { return p.or(p.socket, "diglot.sock", "DIGLOT_SOCKET") }

// CredentialsPath is the file with the API keys of other servers.
func (p Places) CredentialsPath() (string, error) {
	return p.or("", "credentials.json", "DIGLOT_HOME")
}

// HistoryPath is the file with the input history of chats.
func (p Places) HistoryPath() (string, error) { return p.or("", "history", "DIGLOT_HOME") }

// or returns path, or else name in the home directory. The error names
// variable as a way to set the path.
func (p Places) or(path, name, variable string) (string, error) {
	switch {
	case path != "":
		return path, nil
	case p.home == "":
		variables := "none of " + variable + ", DIGLOT_HOME and HOME"
		if variable == "DIGLOT_HOME" {
			variables = "neither DIGLOT_HOME nor HOME"
		}
		return "", errors.New(variables + " is set, so the path of " + name + " is unknown")
	}
	return filepath.Join(p.home, name), nil
}
