package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/diglot/diglot/tools/bench/ask"
	"github.com/diglot/diglot/tools/bench/machine"
	"github.com/diglot/diglot/tools/bench/report"
	"github.com/diglot/diglot/tools/internal/peer"
)

// kind is one of the servers.
type kind struct {
	peer.Server
	// command returns the flags and the environment for a model.
	command func(m model, s report.Settings, address, home string) (args, env []string)
	// add puts the model into the server's store, once.
	add func(ctx context.Context, program, address string, m model, s report.Settings) error
	// plain is the name of the model that takes a prompt as it is.
	plain func(m model) string
}

func itoa[N int | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

func named(m model) string { return m.name }

// cells are the KV cells that diglot has for a context: those of a request, or some for
// each request at once, which share them.
func cells(s report.Settings) int { return max(s.Context, s.Parallel*min(s.Context, 2048)) }

var kinds = []kind{
	{
		Server: peer.Server{Name: "diglot", Version: []string{"version"}},
		plain:  named,
		command: func(m model, s report.Settings, address, home string) (args, env []string) {
			args = []string{"serve", "--listen", address, "--socket", "none", "--drain", "0s"}
			if m.script {
				return append(args, "--script", m.file), []string{"DIGLOT_HOME=" + home}
			}
			return append(args, "--threads", itoa(s.Threads), "--context", itoa(s.Context), "--parallel", itoa(s.Parallel), "--keep-alive", "forever", "--load", m.name,
				"--model", m.name+"="+m.file), []string{"DIGLOT_HOME=" + home}
		},
	},
	{
		Server: peer.Server{Name: "llama-server", Variable: "LLAMA_SERVER", Version: []string{"--version"}},
		plain:  named,
		command: func(m model, s report.Settings, address, _ string) (args, env []string) {
			args = llamaFlags(m, s, address)
			if m.embeds {
				return append(args, "--embedding", "--ctx-size", itoa(s.Context)), nil
			}
			return append(args, "--jinja", "--kv-unified", "--ctx-size", itoa(cells(s))), nil
		},
	},
	{
		Server: peer.Server{Name: "ollama", Variable: "OLLAMA", Version: []string{"--version"}},
		plain:  func(m model) string { return m.name + "-plain" },
		command: func(_ model, s report.Settings, address, home string) (args, env []string) {
			return []string{"serve"}, []string{"OLLAMA_HOST=" + address, "OLLAMA_MODELS=" + home, "HOME=" + home, "OLLAMA_KEEP_ALIVE=-1",
				"OLLAMA_CONTEXT_LENGTH=" + itoa(s.Context), "OLLAMA_NUM_PARALLEL=" + itoa(s.Parallel)}
		},
		add: addToOllama,
	},
	{
		Server: peer.Server{Name: "ik_llama.cpp", Variable: "IK_LLAMA_SERVER", Version: []string{"--version"}},
		plain:  named,
		command: func(m model, s report.Settings, address, _ string) (args, env []string) {
			// It divides its context by its slots.
			args = append(llamaFlags(m, s, address), "--ctx-size", itoa(s.Context*s.Parallel))
			if m.embeds {
				args = append(args, "--embedding")
			}
			return args, nil
		},
	},
}

func llamaFlags(m model, s report.Settings, address string) []string {
	host, port, _ := net.SplitHostPort(address)
	return []string{"--host", host, "--port", port, "--parallel", itoa(s.Parallel), "--threads", itoa(s.Threads), "--model", m.file, "--alias", m.name}
}

// addToOllama creates the model, and one with the same file that adds nothing to a prompt.
func addToOllama(ctx context.Context, program, address string, m model, s report.Settings) error {
	text := fmt.Appendf(nil, "FROM %s\nPARAMETER num_thread %d\n", m.file, s.Threads)
	if err := peer.CreateInOllama(ctx, program, address, m.name, text); err != nil || m.embeds {
		return err
	}
	return peer.CreateInOllama(ctx, program, address, m.name+"-plain", fmt.Appendf(text, "TEMPLATE \"{{ .Prompt }}\"\n"))
}

func serverNames() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names
}

// found is a server whose program is there, with a folder for its files.
type found struct {
	kind
	program, version, home string
	more                   []string // flags
	added                  map[string]bool
	command                string // that it was last started with
}

// find looks for the program of a server; without one, the version is empty.
func find(ctx context.Context, k kind, c config, folder string) (*found, error) {
	program, err := k.Find(c.programs[k.Name])
	if err != nil || program == "" {
		return &found{kind: k}, err
	}
	f := &found{kind: k, program: program, home: filepath.Join(folder, k.Name), more: c.args[k.Name], added: map[string]bool{}}
	if f.version, err = k.VersionOf(ctx, program); err != nil {
		return nil, err
	}
	return f, os.MkdirAll(f.home, 0o755)
}

// target is a running server with one model.
type target struct {
	name      string
	model     string // that takes messages
	plain     string // that takes a prompt as it is
	client    ask.Client
	process   *peer.Process
	begun     time.Time
	oneChoice bool // it makes only one choice for a request
}

// start starts the server without waiting for it.
func (f *found) start(ctx context.Context, m model, s report.Settings) (*target, error) {
	address, err := peer.FreeAddress()
	if err != nil {
		return nil, err
	}
	args, env := f.kind.command(m, s, address, f.home)
	args = append(args, f.more...)
	f.command = describeCommand(f.Name, args, address, m)
	begun := time.Now()
	p, err := peer.Start(ctx, peer.Command{Name: f.Name, Program: f.program, Args: args, Env: env, Address: address, Home: f.home})
	if err != nil {
		return nil, err
	}
	// llama-server closes connections that are kept, sometimes just when a request comes.
	return &target{name: f.Name, model: m.name, plain: f.plain(m), client: ask.Client{URL: p.URL(), HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}},
		process: p, begun: begun}, nil
}

// run starts the server, waits until it answers, and adds the model where it needs that.
func (f *found) run(ctx context.Context, m model, s report.Settings) (*target, error) {
	t, err := f.start(ctx, m, s)
	if err != nil {
		return nil, err
	}
	if err := t.process.Wait(ctx); err != nil {
		t.stop()
		return nil, t.process.Explain(err)
	}
	if f.add == nil || f.added[m.name] {
		return t, nil
	}
	if err := f.add(ctx, f.program, t.client.URL[len("http://"):], m, s); err != nil {
		t.stop()
		return nil, t.process.Explain(err)
	}
	f.added[m.name] = true
	return t, nil
}

func (t *target) stop() {
	t.client.HTTP.CloseIdleConnections()
	t.process.Stop()
}

// cpu is the processor time of the server so far, in milliseconds.
func (t *target) cpu() (float64, error) {
	taken, err := machine.Of(t.process.PID()).CPU()
	return milliseconds(taken), err
}

// memory is that of the server now, in megabytes.
func (t *target) memory() (float64, error) {
	taken, err := machine.Of(t.process.PID()).Memory()
	return float64(taken) / 1e6, err
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
