package script

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/enginetest"
)

func embeddings(t *testing.T) engine.Engine {
	t.Helper()
	models, err := Load(strings.NewReader("models: {m: {embedding: 8}}"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := chat.New(models[0], slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEmbeddingSuite(t *testing.T) { enginetest.RunEmbeddings(t, embeddings) }

func TestSharedWordsAreNear(t *testing.T) {
	got, err := embeddings(t).Embed(t.Context(), &engine.EmbeddingRequest{Model: "m", Inputs: []engine.EmbeddingInput{
		{Text: "the cat sat on a mat"}, {Text: "a cat sat on the mat"}, {Text: "interest rates will rise"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	near := func(i, k int) (sum float32) {
		for d, x := range got.Vectors[i] {
			sum += x * got.Vectors[k][d]
		}
		return sum
	}
	if near(0, 1) < 0.99 || near(0, 2) > 0.9 {
		t.Errorf("the same words: %v, other words: %v", near(0, 1), near(0, 2))
	}
}
