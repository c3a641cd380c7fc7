package main

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/diglot/diglot/openapi/conformance"
)

// verified is what "diglot verify --json" prints, as far as the page needs it.
type verified struct {
	Results []result `json:"results"`
}

type result struct {
	Name     string              `json:"name"`
	Outcome  conformance.Outcome `json:"outcome"`
	Failures []struct {
		Message string `json:"message"`
	} `json:"failures"`
}

// verifyAll verifies the servers that are there, and keeps their scores. With a group, such as
// openai/chat, it keeps the scores of others as they are.
func verifyAll(ctx context.Context, diglot, only, group string) error {
	models, err := fetchModels(ctx)
	if err != nil {
		return err
	}
	served := []model{models[0], models[2]} // text and embeddings
	return each(diglot, only, func(s server, program string) error {
		version, err := s.VersionOf(ctx, program)
		if err != nil {
			return err
		}
		results, err := s.verify(ctx, program, diglot, served, group)
		if err != nil {
			return err
		}
		found := scoreOf(results)
		found.about = about{version, time.Now().UTC().Format(time.DateOnly)}
		file := filepath.Join(scores, s.Name+".yml")
		if group != "" {
			if found, err = found.within(file); err != nil {
				return err
			}
		}
		fmt.Printf("%s %s: %.1f %%: %d passed, %d failed, %d skipped, %d not offered\n", s.Name, version, found.share(),
			found.total().Passed, found.total().Failed, found.total().Skipped, found.total().NotOffered)
		text, err := yaml.Marshal(found)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(scores, 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, text, 0o644)
	})
}

// verify runs the kit over a server. One that has a single model at a time is started
// once more for embeddings.
func (s server) verify(ctx context.Context, program, diglot string, models []model, group string) ([]result, error) {
	text, embedding := models[0], models[1]
	var chosen []string
	if group != "" {
		chosen = []string{"--only", group}
	}
	if !s.perModel {
		return s.verifyOver(ctx, program, diglot, models, append(chosen, "--model", text.name, "--embedding-model", embedding.name)...)
	}
	results, err := s.verifyOver(ctx, program, diglot, models[:1], append(chosen, "--model", text.name)...)
	if err != nil || group != "" && group != embeddings {
		return results, err
	}
	more, err := s.verifyOver(ctx, program, diglot, models[1:], "--embedding-model", embedding.name, "--only", embeddings)
	return replaced(results, more), err
}

// embeddings is the group of scenarios that need a model for embeddings.
const embeddings = "openai/embeddings"

// replaced has the results of a second run in the place of those of a first.
func replaced(results, more []result) []result {
	byName := map[string]result{}
	for _, r := range more {
		byName[r.Name] = r
	}
	for i, r := range results {
		if again, ok := byName[r.Name]; ok {
			results[i] = again
		}
	}
	return results
}

func (s server) verifyOver(ctx context.Context, program, diglot string, models []model, args ...string) ([]result, error) {
	var found verified
	err := s.run(ctx, program, models, func(address string) error {
		args = append([]string{"verify", "--base-url", address, "--json", "--parallel", slots, "--timeout", "5m"}, args...)
		cmd := exec.CommandContext(ctx, diglot, args...)
		cmd.Stderr = os.Stderr // progress
		said, err := cmd.Output()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
			err = nil // scenarios fail
		}
		if err != nil {
			return fmt.Errorf("diglot %s: %w", strings.Join(args, " "), err)
		}
		return json.Unmarshal(said, &found)
	})
	return found.Results, err
}
