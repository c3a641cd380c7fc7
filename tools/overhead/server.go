//go:build llamacpp

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/diglot/diglot/gen/openai"
)

// server is a process of the measured program.
type server struct {
	model  string
	client *openai.Client
	cmd    *exec.Cmd
}

// startServer waits for the log line with the server's address.
func startServer(ctx context.Context, c config) (*server, error) {
	cmd := exec.CommandContext(ctx, c.server, "serve", "--listen", "127.0.0.1:0", "--socket", "none",
		"--model", c.name+"="+c.path, "--threads", strconv.Itoa(c.threads))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	pipe, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w (make build makes it)", err)
	}
	var said strings.Builder
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		fmt.Fprintln(&said, lines.Text())
		if _, after, ok := strings.Cut(lines.Text(), "listening on "); ok {
			go io.Copy(io.Discard, pipe)
			url, _, _ := strings.Cut(strings.TrimRight(after, `"`), " ")
			client, err := openai.NewClient(url)
			return &server{model: c.name, client: client, cmd: cmd}, err
		}
	}
	return nil, fmt.Errorf("the server did not start: %v\n%s", cmd.Wait(), said.String())
}

func (s *server) stop() {
	s.cmd.Process.Signal(os.Interrupt)
	s.cmd.Wait()
}

// chat streams one answer and calls chunk for each text delta.
func (s *server) chat(ctx context.Context, text string, tokens int, bias map[int]float64, chunk func()) error {
	body, err := json.Marshal(map[string]any{
		"model":      s.model,
		"messages":   []any{map[string]string{"role": "user", "content": text}},
		"max_tokens": tokens,
		"logit_bias": bias,
		"stream":     true,
	})
	if err != nil {
		return err
	}
	response, err := s.client.CreateChatCompletionWithBody(ctx, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return fmt.Errorf("%s: %s", response.Status, said)
	}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if bytes.Contains(lines.Bytes(), []byte(`"content":`)) {
			chunk()
		}
	}
	return lines.Err()
}

func (b *bench) serverStream(ctx context.Context, _ int) error {
	ends, err := b.ends(ctx)
	if err != nil {
		return err
	}
	// A chunk has whole characters and so may have two tokens: count as many as
	// were requested.
	var watch stopwatch
	err = b.server.chat(ctx, story, b.tokens, ends, func() { watch.tick(1) })
	watch.tokens = b.tokens - 1
	b.add("HTTP", watch.each())
	return err
}
