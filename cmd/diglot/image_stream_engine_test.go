//go:build imagegen

package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestImageStreamEngine streams from the real engine. A client leaves after the first
// unfinished image, and the process is killed after that of another: the work ends within
// a step, and the stream ends with an error.
func TestImageStreamEngine(t *testing.T) {
	s := start(t, "--model", miniature(t), "--imagegen", imageEngine(t))
	const long = `{"model":"m","prompt":"p","size":"128x128","quality":"max","seed":5,"stream":true,"partial_images":3}`
	open := func(ctx context.Context) *bufio.Reader {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+imagesPath, strings.NewReader(long))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		reply, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { reply.Body.Close() })
		return bufio.NewReader(reply.Body)
	}
	next := func(r *bufio.Reader) string { // the name of the next event
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				t.Fatalf("error %v in a stream", err)
			}
			if name, ok := strings.CutPrefix(line, "event: "); ok {
				return strings.TrimSpace(name)
			}
		}
	}

	whole := open(t.Context())
	var kinds []string
	for len(kinds) < 4 {
		kinds = append(kinds, strings.TrimPrefix(next(whole), "image_generation."))
	}
	if got := strings.Join(kinds, " "); got != "partial_image partial_image partial_image completed" {
		t.Errorf("events %s", got)
	}
	if rest, err := io.ReadAll(whole); err != nil || strings.Contains(string(rest), "event:") {
		t.Errorf("error %v after the image: %.100s", err, rest)
	}

	ctx, leave := context.WithCancel(t.Context())
	at := len(s.log.String())
	next(open(ctx))
	leave()
	if got := drawn(t, s.url, `,"size":"64x64","seed":5`); len(got) != 1 {
		t.Errorf("%d images after a client left", len(got))
	}
	if rest := s.log.String()[at:]; strings.Contains(rest, "step=16 ") {
		t.Errorf("the image of a client who left was drawn to its end:\n%s", rest)
	}

	lost := open(t.Context())
	next(lost)
	pids := regexp.MustCompile(`msg="model loaded".* pid=(\d+)`).FindAllStringSubmatch(s.log.String(), -1)
	kill(t, pids[len(pids)-1][1])
	rest, err := io.ReadAll(lost)
	if err != nil || !strings.Contains(string(rest), `data: {"error":{`) || strings.Contains(string(rest), "image_generation.completed") {
		t.Errorf("killed: error %v, %.300s", err, rest)
	}
}
