package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/diglot/diglot/tools/internal/peer"
)

// contextLength is the context of all models, so that one request does not fit.
// llama-server divides its own by its slots, one for each request at a time.
const (
	contextLength = "2048"
	slots         = "4"
	slotsLength   = "8192"
	// An answer that its request does not limit ends after so many tokens: a small model
	// may find no end before that of its context. Ollama takes three times as long for each.
	tokens       = "64"
	ollamaTokens = "16"
)

// model is a model that all servers have under one name.
type model struct{ group, name, file string }

// server is a program that serves models.
type server struct {
	peer.Server
	// perModel: it has one model at a time.
	perModel bool
	// start returns its command line for an address, and how to add the models once
	// it answers.
	start func(program, address, home string, models []model) (args, env []string)
	add   func(ctx context.Context, program, address string, models []model) error
}

var servers = []server{
	{
		Server: peer.Server{Name: "diglot", Version: []string{"version"}},
		start: func(_, address, home string, models []model) (args, env []string) {
			args = []string{"serve", "--listen", address, "--socket", "none", "--context", contextLength}
			for _, m := range models {
				args = append(args, "--model", m.name+"="+m.file)
			}
			return args, []string{"DIGLOT_HOME=" + home}
		},
	},
	{
		Server:   peer.Server{Name: "llama-server", Variable: "LLAMA_SERVER", Version: []string{"--version"}},
		perModel: true,
		start: func(_, address, _ string, models []model) (args, env []string) {
			host, port, _ := net.SplitHostPort(address)
			args = []string{"--host", host, "--port", port, "--ctx-size", slotsLength, "--parallel", slots, "--jinja", "--threads", "1", "--predict", tokens,
				"--model", models[0].file, "--alias", models[0].name}
			if models[0].group == "embedding" {
				args = append(args, "--embedding")
			}
			return args, nil
		},
	},
	{
		Server: peer.Server{Name: "ollama", Variable: "OLLAMA", Version: []string{"--version"}},
		start: func(_, address, home string, _ []model) (args, env []string) {
			return []string{"serve"}, []string{"OLLAMA_HOST=" + address, "OLLAMA_MODELS=" + home, "HOME=" + home, "OLLAMA_CONTEXT_LENGTH=" + contextLength,
				"OLLAMA_NUM_PARALLEL=" + slots}
		},
		add: createInOllama,
	},
}

// each calls use for the servers that are there, or for one of them.
func each(diglot, only string, use func(s server, program string) error) error {
	for _, s := range servers {
		if only != "" && s.Name != only {
			continue
		}
		named := ""
		if s.Variable == "" {
			named = diglot
		}
		program, err := s.Find(named)
		if err != nil {
			return err
		}
		if program == "" {
			fmt.Printf("note: no %s in PATH or %s; what is known of it stays as it is\n", s.Name, s.Variable)
			continue
		}
		if err := use(s, program); err != nil {
			return err
		}
	}
	return nil
}

// run runs the server until use returns.
func (s server) run(ctx context.Context, program string, models []model, use func(address string) error) (err error) {
	home, err := os.MkdirTemp("", "peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	address, err := peer.FreeAddress()
	if err != nil {
		return err
	}
	args, env := s.start(program, address, home, models)
	p, err := peer.Start(ctx, peer.Command{Name: s.Name, Program: program, Args: args, Env: env, Address: address, Home: home})
	if err != nil {
		return err
	}
	defer func() {
		p.Stop()
		err = p.Explain(err)
	}()
	if err := p.Wait(ctx); err != nil {
		return err
	}
	if s.add != nil {
		if err := s.add(ctx, program, address, models); err != nil {
			return err
		}
	}
	return use(p.URL())
}
