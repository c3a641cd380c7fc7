package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/diglot/diglot/internal/cassette"
	"github.com/diglot/diglot/internal/cassette/recorder"
	"github.com/diglot/diglot/tools/internal/python"
)

// about is what a recording says of its server, in about.yml beside it.
type about struct {
	Version string `yaml:"version"`
	Date    string `yaml:"date"`
}

// recordAll records the servers that are there.
func recordAll(ctx context.Context, diglot, only string) error {
	models, err := fetchModels(ctx)
	if err != nil {
		return err
	}
	packages, err := python.Install(ctx, os.Stderr, filepath.Join(suite, "requirements.txt"), installed)
	if err != nil {
		return err
	}
	return each(diglot, only, func(s server, program string) error { return s.record(ctx, program, packages, models) })
}

// fetchModels returns the model of each group of cases.
func fetchModels(ctx context.Context) ([]model, error) {
	models := []model{{group: "chat", name: "smollm2-135m"}, {group: "tool", name: "qwen2.5-coder-0.5b"}, {group: "embedding", name: "minilm"}}
	for i, m := range models {
		cmd := exec.CommandContext(ctx, "go", "run", "./tools/fetch", m.name)
		cmd.Stderr = os.Stderr
		said, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("fetching %s: %w", m.name, err)
		}
		models[i].file = string(bytes.TrimSpace(said))
	}
	return models, nil
}

// record replaces the recordings of one server.
func (s server) record(ctx context.Context, program, packages string, models []model) error {
	version, err := s.VersionOf(ctx, program)
	if err != nil {
		return err
	}
	return replace(filepath.Join(recordings, s.Name), func(folder string) error {
		runs := [][]model{models}
		if s.perModel {
			runs = [][]model{models[:1], models[1:2], models[2:]}
		}
		for _, served := range runs {
			err := s.run(ctx, program, served, func(address string) error {
				return play(ctx, s.Name, address, folder, packages, models, served)
			})
			if err != nil {
				return err
			}
		}
		text, err := yaml.Marshal(about{version, time.Now().UTC().Format(time.DateOnly)})
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(folder, "about.yml"), text, 0o644)
	})
}

// replace fills a new folder and puts it in the place of an old one, which stays as it is
// after an error.
func replace(folder string, fill func(folder string) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	made, err := os.MkdirTemp(filepath.Dir(folder), "."+filepath.Base(folder)+"-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(made)) }()
	fresh, old := filepath.Join(made, "new"), filepath.Join(made, "old")
	if err := os.Mkdir(fresh, 0o755); err != nil {
		return err
	}
	if err := fill(fresh); err != nil {
		return err
	}
	if err := os.Rename(folder, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(fresh, folder); err != nil {
		return errors.Join(err, os.Rename(old, folder))
	}
	return nil
}

// play has the SDKs play the cases of the served models through a recording proxy.
func play(ctx context.Context, name, address, folder, packages string, models, served []model) (err error) {
	target, err := url.Parse(address)
	if err != nil {
		return err
	}
	scrub := cassette.DefaultScrub()
	scrub.Response = append(scrub.Response, "Request-Id", "X-Request-Id")
	proxy := recorder.New(recorder.Config{Upstream: target, Folder: folder, Case: recorder.Named, Scrub: scrub,
		Edit: func(string) func(*cassette.Interaction) { return shorten }, Log: slog.New(slog.DiscardHandler)})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	front := &http.Server{Handler: proxy}
	go front.Serve(listener)
	defer func() { err = errors.Join(err, front.Close(), proxy.Close()) }()
	for _, m := range served {
		cmd := exec.CommandContext(ctx, "python3", filepath.Join(suite, "peers.py"), "http://"+listener.Addr().String(),
			models[0].name, models[1].name, models[2].name, m.group)
		cmd.Env = append(os.Environ(), "PYTHONPATH="+packages, "PYTHONDONTWRITEBYTECODE=1")
		cmd.Stderr = os.Stderr
		said, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("peers.py: %w\n%s", err, said)
		}
		for line := range bytes.Lines(said) {
			fmt.Printf("%s: %s", name, line)
		}
	}
	return nil
}
