package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/places"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine/models/credentials"
)

// loginOptions are the flags of login.
type loginOptions struct {
	variable string
	noKey    bool
	asJSON   *bool
}

func newLogin(env environment) *cobra.Command {
	var o loginOptions
	c := &cobra.Command{
		Use:   "login [HOST]",
		Short: "Allow a remote server and store its API key",
		Long: `Allow models to run on a remote server, and store its API key. A Modelfile can name a
server, but nothing is sent there until it is allowed on this machine.

The key is prompted for in a terminal, and otherwise read from standard input. Without
HOST, the allowed servers are listed.

This is not for registries: pull and push use the logins of "docker login".`,
		Example: `  diglot login api.example.com
  diglot login api.example.com < key.txt
  diglot login api.example.com --key-env EXAMPLE_KEY
  diglot login http://localhost:8000 --no-key`,
		GroupID: groupRegistry,
		Args:    arguments(0, 1, "at most one HOST"),
	}
	c.Flags().StringVar(&o.variable, "key-env", "", "read the key from environment variable `NAME` of \"diglot serve\"")
	c.Flags().BoolVar(&o.noKey, "no-key", false, "allow the server without a key")
	o.asJSON = jsonFlag(c, "host, key (none, stored or environment), variable")
	c.RunE = func(_ *cobra.Command, args []string) error {
		file, err := openCredentials(env)
		if err != nil {
			return err
		}
		if len(args) == 0 {
			return listHosts(env, file, *o.asJSON)
		}
		return login(env, file, args[0], o)
	}
	return c
}

func newLogout(env environment) *cobra.Command {
	return &cobra.Command{
		Use:     "logout HOST",
		Short:   "Disallow a remote server and delete its API key",
		Example: "  diglot logout api.example.com",
		GroupID: groupRegistry,
		Args:    arguments(1, 1, "a host"),
		RunE: func(_ *cobra.Command, args []string) error {
			host, err := credentials.Host(args[0])
			if err != nil {
				return exit.Usage("logout: %v", err)
			}
			file, err := openCredentials(env)
			if err != nil {
				return err
			}
			if err := file.Remove(host); err != nil {
				return err
			}
			fmt.Fprintf(env.stderr, "%s is no longer allowed\n", credentials.Short(host))
			return nil
		},
	}
}

func openCredentials(env environment) (*credentials.File, error) {
	path, err := places.Find(env.getenv).CredentialsPath()
	if err != nil {
		return nil, err
	}
	return credentials.Open(path)
}

func login(env environment, file *credentials.File, name string, o loginOptions) error {
	host, err := credentials.Host(name)
	if err != nil {
		return exit.Usage("login: %v", err)
	}
	switch {
	case o.noKey && o.variable != "":
		return exit.Usage("login: --no-key and --key-env exclude each other")
	case o.noKey:
		err = file.Allow(host)
	case o.variable != "":
		err = file.SetEnv(host, o.variable)
	default:
		err = askKey(env, file, host)
	}
	if err != nil {
		return err
	}
	entry, _, err := file.Lookup(host)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.stderr, "models may run on %s (%s)\n", credentials.Short(host), entry)
	return nil
}

// askKey reads a key from the terminal or standard input, and stores it.
func askKey(env environment, file *credentials.File, host string) error {
	key, err := terminal.ReadSecret(env.stdin, env.stderr, "Key for "+credentials.Short(host)+": ")
	if err != nil {
		return err
	}
	if key == "" {
		return exit.Usage("login: missing key; if %s needs none, use --no-key", credentials.Short(host))
	}
	return file.Set(host, key)
}

// hostJSON is a host as login lists it. The key itself is never printed.
type hostJSON struct {
	Host     string `json:"host"`
	Key      string `json:"key"`
	Variable string `json:"variable,omitempty"`
}

func listHosts(env environment, file *credentials.File, asJSON bool) error {
	names, err := file.Hosts()
	if err != nil {
		return err
	}
	all, rows := []hostJSON{}, [][]string{}
	for _, name := range names {
		entry, _, err := file.Lookup(name)
		if err != nil {
			return err
		}
		kind := "none"
		switch {
		case entry.Variable != "":
			kind = "environment"
		case entry.HasKey():
			kind = "stored"
		}
		all = append(all, hostJSON{credentials.Short(name), kind, entry.Variable})
		rows = append(rows, []string{credentials.Short(name), entry.String()})
	}
	if asJSON {
		return printJSON(env.stdout, all)
	}
	return terminal.Table(env.stdout, []string{"HOST", "KEY"}, rows)
}
