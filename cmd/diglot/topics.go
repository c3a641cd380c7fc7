package main

import (
	_ "embed"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed topics/clients.md
var clientsTopic string

//go:embed topics/scripts.md
var scriptsTopic string

// newClients is a page of help.
func newClients() *cobra.Command {
	return &cobra.Command{Use: "clients", Short: "Connecting clients to the server", Long: strings.TrimSpace(clientsTopic)}
}

// newScripts is a page of help.
func newScripts() *cobra.Command {
	return &cobra.Command{Use: "scripts", Short: "Testing clients with scripted models", Long: strings.TrimSpace(scriptsTopic)}
}
