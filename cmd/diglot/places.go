package main

import (
	"cmp"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"
)

// places are the files and folders of one user.
type places struct {
	home   string // empty: what lies in it cannot be found
	models string // the store; empty: below home
	socket string // of the running server; empty: below home
}

// findPlaces asks the environment where things are, as newEnvironment
// documents it.
func findPlaces(env environment) places {
	p := places{home: env.getenv("DIGLOT_HOME"), models: env.getenv("DIGLOT_MODELS"), socket: env.getenv("DIGLOT_SOCKET")}
	if home := homeOf(env); p.home == "" && home != "" {
		p.home = filepath.Join(home, ".diglot")
	}
	return p
}

// homeOf is the home of the user; empty where it is not known.
func homeOf(env environment) string {
	return cmp.Or(env.getenv("HOME"), env.getenv("USERPROFILE")) // the second on Windows
}

// modelsDir is the folder of the model store.
func (p places) modelsDir() (string, error) { return p.or(p.models, "models", "DIGLOT_MODELS") }

// socketPath is where the server listens for the commands of its machine.
func (p places) socketPath() (string, error) { return p.or(p.socket, "diglot.sock", "DIGLOT_SOCKET") }

// credentialsPath is the file with the keys of other servers.
func (p places) credentialsPath() (string, error) {
	return p.or("", "credentials.json", "DIGLOT_HOME")
}

// historyPath is the file with what was typed in chats.
func (p places) historyPath() (string, error) { return p.or("", "history", "DIGLOT_HOME") }

// or is the path that was given, or name in the home. variable could give
// one.
func (p places) or(path, name, variable string) (string, error) {
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

// newEnvironment is a page of help.
func newEnvironment() *cobra.Command {
	return &cobra.Command{
		Use:   "environment",
		Short: "What the environment says to diglot",
		Long: `These environment variables are looked at:

  DIGLOT_HOME      the folder of the user's files (default ~/.diglot)
  DIGLOT_MODELS    the model store, which may be Ollama's (default models in DIGLOT_HOME)
  DIGLOT_SOCKET    the socket between the commands and the server (default diglot.sock
                   in DIGLOT_HOME)
  DIGLOT_API_KEY   one more key that clients of "diglot serve" may send
  DOCKER_CONFIG    the folder with docker's logins for registries (default ~/.docker)
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                   the proxy to registries and other servers`,
	}
}
