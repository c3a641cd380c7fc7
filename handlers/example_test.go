package handlers_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/diglot/diglot/engine/script"
	"github.com/diglot/diglot/handlers"
)

// A handler serves any engine, here one that plays a script. Each style
// answers in its own shape, and a field without effect is named in a header.
func ExampleNew() {
	models, err := script.Load(strings.NewReader(`models: {parrot: {replies: [{pieces: ["Hel", "lo!"]}]}}`))
	if err != nil {
		panic(err)
	}
	log := slog.New(slog.DiscardHandler)
	parrot, err := models[0].Engine(log, time.Now)
	if err != nil {
		panic(err)
	}
	handler, err := handlers.New(handlers.Config{Engine: parrot, Log: log})
	if err != nil {
		panic(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()

	for _, path := range []string{"/v1/chat/completions", "/v1/messages"} {
		body := `{"model": "parrot", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}], "mood": "good"}`
		reply, err := http.Post(server.URL+path, "application/json", strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		text, err := io.ReadAll(reply.Body)
		if err != nil {
			panic(err)
		}
		reply.Body.Close()
		fmt.Println(path, reply.StatusCode, strings.Contains(string(text), "Hello!"), "ignored:", reply.Header.Get("Diglot-Ignored"))
	}
	// Output:
	// /v1/chat/completions 200 true ignored: mood
	// /v1/messages 200 true ignored: mood
}
