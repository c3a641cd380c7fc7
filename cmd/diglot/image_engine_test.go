//go:build imagegen

package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/diffusion/diffusiontest"
	"github.com/diglot/diglot/engine/imagegen/sdcpp"
)

// imageEngine finds the library of "make imagegen".
func imageEngine(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	path, err := sdcpp.Find(sdcpp.Places{Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// drawn asks for images, and returns them in base64.
func drawn(t *testing.T, url, members string) []string {
	t.Helper()
	return drawnBy(t, url, "m", members)
}

func drawnBy(t *testing.T, url, model, members string) []string {
	t.Helper()
	text, err := io.ReadAll(post(t, url+imagesPath, `{"model":"`+model+`","prompt":"a red house"`+members+`}`).Body)
	if err != nil {
		t.Fatal(err)
	}
	var reply struct {
		Data []struct {
			Image string `json:"b64_json"`
		}
	}
	if err := json.Unmarshal(text, &reply); err != nil || len(reply.Data) == 0 {
		t.Fatalf("error %v in %s", err, text)
	}
	var all []string
	for _, d := range reply.Data {
		all = append(all, d.Image)
	}
	return all
}

// TestImageEngine draws over the whole path: HTTP, the library, a process of its own
// and the real engine. Then the process is killed, and a client leaves.
func TestImageEngine(t *testing.T) {
	library := imageEngine(t)
	s := start(t, "--model", miniature(t), "--imagegen", library)
	const small = `,"size":"64x64","seed":5`
	first := drawn(t, s.url, small+`,"n":2`)
	if len(first) != 2 || first[0] == first[1] {
		t.Errorf("%d images, or twice the same", len(first))
	}
	for _, tt := range []struct {
		name, members string
		want          string // one of the images
	}{
		{"the same again", small, first[0]},
		{"the next seed", `,"size":"64x64","seed":6`, first[1]},
	} {
		if got := drawn(t, s.url, tt.members); got[0] != tt.want {
			t.Errorf("%s: another image", tt.name)
		}
	}
	for _, members := range []string{`,"size":"65x64"`, `,"size":"48x64"`, `,"size":"64x2064"`} {
		reply := post(t, s.url+imagesPath, `{"model":"m","prompt":"p"`+members+`}`)
		if text, _ := io.ReadAll(reply.Body); reply.StatusCode != 400 || !strings.Contains(string(text), "multiples of 16 from 64 to 2048") {
			t.Errorf("%s: status %d: %s", members, reply.StatusCode, text)
		}
	}
	const long = `{"model":"m","prompt":"p","size":"128x128","quality":"max"}`

	at := len(s.log.String())
	killed := make(chan *http.Response, 1)
	go func() { killed <- post(t, s.url+imagesPath, long) }()
	at = s.log.await(t, at, "step=1 ")
	pids := regexp.MustCompile(`msg="model loaded".* pid=(\d+)`).FindAllStringSubmatch(s.log.String(), -1)
	kill(t, pids[len(pids)-1][1])
	reply := <-killed
	if text, _ := io.ReadAll(reply.Body); reply.StatusCode != 502 || !strings.Contains(string(text), "server_error") {
		t.Errorf("killed: status %d: %s", reply.StatusCode, text)
	}
	if got := drawn(t, s.url, small); got[0] != first[0] {
		t.Error("another image after the crash")
	}

	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+imagesPath, strings.NewReader(long))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	left := make(chan error, 1)
	go func() {
		_, err := http.DefaultClient.Do(req)
		left <- err
	}()
	at = s.log.await(t, at, "step=1 ")
	cancel()
	if err := <-left; err == nil {
		t.Error("the client did not leave")
	}
	if got := drawn(t, s.url, small); got[0] != first[0] {
		t.Error("another image after a client left")
	}
	if rest := s.log.String()[at:]; strings.Contains(rest, "step=16 ") || strings.Contains(rest, "model loaded") {
		t.Errorf("the image of a client who left was drawn to its end, or the process did not survive:\n%s", rest)
	}
}

// TestImageLoRA: models of the store that differ only in the strength of a LoRA, with
// memory for one at a time.
func TestImageLoRA(t *testing.T) {
	library := imageEngine(t)
	u := newUser(t)
	_, files, _ := strings.Cut(miniature(t), "=")
	autoencoder, model, _ := strings.Cut(files, ",")
	lora := filepath.Join(u.home, "lora")
	if err := diffusiontest.WriteLoRA(lora); err != nil {
		t.Fatal(err)
	}
	base := fmt.Sprintf("FROM %s\nFROM %s\nPARAMETER steps 2\nPARAMETER seed 5\n", model, autoencoder)
	for name, more := range map[string]string{
		"plain": "", "off": "ADAPTER " + lora + "\nPARAMETER lora_strength 0", "on": "ADAPTER " + lora, "weak": "ADAPTER " + lora + "\nPARAMETER lora_strength -0.5",
	} {
		u.must("create", name, "--quiet", "-f", u.write(name, base+more))
	}
	s := startFor(t, u.environment(nil, nil).getenv, "--socket", "none", "--imagegen", library, "--max-memory", "4GB")
	seen := map[string]string{}
	pixels := func(name string) string {
		file, err := base64.StdEncoding.DecodeString(drawnBy(t, s.url, name, `,"size":"64x64"`)[0])
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(file), "IDAT") // behind the text with the model's name
		return after
	}
	for _, name := range []string{"plain", "on", "weak"} {
		image := pixels(name)
		if other, ok := seen[image]; ok {
			t.Errorf("%s and %s draw the same", name, other)
		}
		seen[image] = name
	}
	if seen[pixels("off")] != "plain" {
		t.Error("a strength of 0 is not the plain image")
	}
	if n := strings.Count(s.log.String(), "reason=evicted"); n != 3 {
		t.Errorf("%d models were evicted for others, want 3", n)
	}
}

// await returns when the text after the first n bytes has a word, with the length of
// all that was written so far.
func (o *output) await(t *testing.T, n int, word string) int {
	t.Helper()
	for {
		o.mu.Lock()
		if text := o.buf.String(); strings.Contains(text[n:], word) {
			o.mu.Unlock()
			return len(text)
		}
		wait := make(chan struct{})
		o.waits = append(o.waits, wait)
		o.mu.Unlock()
		select {
		case <-wait:
		case <-t.Context().Done():
			t.Fatalf("no %q in:\n%s", word, o)
		}
	}
}
