package gosdk

import (
	"bytes"
	"context"
	"encoding/base64"
	"image/png"
	"math"
	"slices"

	"github.com/openai/openai-go/v3"
)

// Completions of a raw text, embeddings and images.
var openaiTextCases = []openaiCase{
	{"completions/plain", completionPlain},
	{"completions/stream", completionStream},
	{"completions/logprobs", completionLogprobs},
	{"completions/unknown-model", completionUnknownModel},
	{"embeddings/plain", embeddingPlain},
	{"embeddings/many", embeddingMany},
	{"embeddings/bad-dimensions", embeddingBadDimensions},
	{"images/plain", imagePlain},
	{"images/stream", imageStream},
	{"images/unknown-model", imageUnknownModel},
}

func completionOf(model, prompt string) openai.CompletionNewParams {
	return openai.CompletionNewParams{
		Model:  openai.CompletionNewParamsModel(model),
		Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String(prompt)},
	}
}

func completionPlain(ctx context.Context, client openai.Client, model string, c *check) {
	reply, err := client.Completions.New(ctx, completionOf(model, "Once upon a time"))
	if !c.fine(err) {
		return
	}
	equal(c, "text", reply.Choices[0].Text, " there was a server.")
	equal(c, "finish reason", reply.Choices[0].FinishReason, openai.CompletionChoiceFinishReasonStop)
	equal(c, "completion tokens", reply.Usage.CompletionTokens, 4)
}

func completionStream(ctx context.Context, client openai.Client, model string, c *check) {
	stream := client.Completions.NewStreaming(ctx, completionOf(model, "Once upon a time"))
	text, reason := "", ""
	for stream.Next() {
		choice := stream.Current().Choices[0]
		text += choice.Text
		reason += string(choice.FinishReason)
	}
	c.fine(stream.Err())
	equal(c, "text", text, " there was a server.")
	equal(c, "finish reasons", reason, "stop")
}

func completionLogprobs(ctx context.Context, client openai.Client, model string, c *check) {
	params := completionOf(model, "Please count to five")
	params.Logprobs = openai.Int(2)
	reply, err := client.Completions.New(ctx, params)
	if !c.fine(err) {
		return
	}
	found := reply.Choices[0].Logprobs
	equal(c, "tokens", len(found.Tokens), 5)
	equal(c, "place of the second token", found.TextOffset[1], 3)
	equal(c, "alternatives", len(found.TopLogprobs[0]), 2)
}

func completionUnknownModel(ctx context.Context, client openai.Client, _ string, c *check) {
	_, err := client.Completions.New(ctx, completionOf("nosuch", "Once upon a time"))
	equal(c, "code", openaiError(c, err, 404).Code, "model_not_found")
}

// embeddingOf asks for numbers: this SDK says nothing of the encoding.
func embeddingOf(texts ...string) openai.EmbeddingNewParams {
	return openai.EmbeddingNewParams{
		Model: "embedder", Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts}}
}

func embeddingPlain(ctx context.Context, client openai.Client, _ string, c *check) {
	reply, err := client.Embeddings.New(ctx, embeddingOf("one text"))
	if !c.fine(err) {
		return
	}
	sum := 0.0
	for _, x := range reply.Data[0].Embedding {
		sum += x * x
	}
	equal(c, "dimensions", len(reply.Data[0].Embedding), 8)
	c.holds(math.Abs(sum-1) < 1e-4, "the squared length is %v", sum)
}

func embeddingMany(ctx context.Context, client openai.Client, _ string, c *check) {
	reply, err := client.Embeddings.New(ctx, embeddingOf("one text", "another text"))
	if !c.fine(err) {
		return
	}
	equal(c, "entries", len(reply.Data), 2)
	equal(c, "index of the second", reply.Data[1].Index, 1)
	equal(c, "prompt tokens", reply.Usage.PromptTokens, 4)
}

func embeddingBadDimensions(ctx context.Context, client openai.Client, _ string, c *check) {
	params := embeddingOf("one text")
	params.Dimensions = openai.Int(9)
	_, err := client.Embeddings.New(ctx, params)
	equal(c, "param", openaiError(c, err, 400).Param, "dimensions")
}

func imageOf(model openai.ImageModel) openai.ImageGenerateParams {
	return openai.ImageGenerateParams{Model: model, Prompt: "a green hill", Size: "256x128"}
}

func imagePlain(ctx context.Context, client openai.Client, _ string, c *check) {
	reply, err := client.Images.Generate(ctx, imageOf("painter"))
	if !c.fine(err) {
		return
	}
	file, err := base64.StdEncoding.DecodeString(reply.Data[0].B64JSON)
	c.fine(err)
	info, err := png.DecodeConfig(bytes.NewReader(file))
	if c.fine(err) {
		equal(c, "width", info.Width, 256)
		equal(c, "height", info.Height, 128)
	}
}

func imageUnknownModel(ctx context.Context, client openai.Client, _ string, c *check) {
	_, err := client.Images.Generate(ctx, imageOf("nosuch"))
	equal(c, "code", openaiError(c, err, 404).Code, "model_not_found")
}

func imageStream(ctx context.Context, client openai.Client, _ string, c *check) {
	params := imageOf("painter")
	params.PartialImages = openai.Int(1)
	events := client.Images.GenerateStreaming(ctx, params)
	var kinds []string
	for events.Next() {
		event := events.Current()
		kinds = append(kinds, event.Type)
		data, err := base64.StdEncoding.DecodeString(event.B64JSON)
		if c.fine(err) {
			config, err := png.DecodeConfig(bytes.NewReader(data))
			c.holds(err == nil && config.Width == 256 && config.Height == 128, "%s of %dx%d: %v", event.Type, config.Width, config.Height, err)
		}
	}
	c.fine(events.Err())
	want := []string{"image_generation.partial_image", "image_generation.completed"}
	c.holds(slices.Equal(kinds, want), "events %q", kinds)
}
