// Package places knows where the files of one user are.
package places

import (
	"cmp"
	"errors"
	"path/filepath"
)

// Places are the files and folders of one user.
type Places struct {
	home   string // empty: what lies in it cannot be found
	models string // the store; empty: below home
	socket string // of the running server; empty: below home
}

// Find asks the environment where things are, as "diglot help environment"
// documents it.
func Find(getenv func(string) string) Places {
	p := Places{home: getenv("DIGLOT_HOME"), models: getenv("DIGLOT_MODELS"), socket: getenv("DIGLOT_SOCKET")}
	if home := Home(getenv); p.home == "" && home != "" {
		p.home = filepath.Join(home, ".diglot")
	}
	return p
}

// Home is the home of the user; empty where it is not known.
func Home(getenv func(string) string) string {
	return cmp.Or(getenv("HOME"), getenv("USERPROFILE")) // the second on Windows
}

// ModelsDir is the folder of the model store.
func (p Places) ModelsDir() (string, error) { return p.or(p.models, "models", "DIGLOT_MODELS") }

// SocketPath is where the server listens for the commands of its machine.
func (p Places) SocketPath() (string, error) { return p.or(p.socket, "diglot.sock", "DIGLOT_SOCKET") }

// CredentialsPath is the file with the keys of other servers.
func (p Places) CredentialsPath() (string, error) {
	return p.or("", "credentials.json", "DIGLOT_HOME")
}

// HistoryPath is the file with what was typed in chats.
func (p Places) HistoryPath() (string, error) { return p.or("", "history", "DIGLOT_HOME") }

// or is the path that was given, or name in the home. variable could give
// one.
func (p Places) or(path, name, variable string) (string, error) {
	switch {
	case path != "":
		return path, nil
	case p.home == "":
		variables := "none of " + variable + ", DIGLOT_HOME and HOME"
		if variable == "DIGLOT_HOME" {
			variables = "neither DIGLOT_HOME nor HOME"
		}
		return "", errors.New(variables + " is set, so there is no place for " + name)
	}
	return filepath.Join(p.home, name), nil
}
