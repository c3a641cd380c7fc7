package gosdk

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
)

// The cases for a real model that sees colours; see tools/projector.

var colours = map[string]color.RGBA{
	"red":    {220, 20, 20, 255},
	"blue":   {10, 30, 230, 255},
	"green":  {20, 200, 30, 255},
	"yellow": {240, 230, 10, 255},
}

const whichColour = "What colour is the picture? One word."

// picture is a PNG of one colour, in base64.
func picture(c *check, colour string) string {
	m := image.NewPaletted(image.Rect(0, 0, 96, 96), color.Palette{colours[colour]})
	var b bytes.Buffer
	c.fine(png.Encode(&b, m))
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func named(c *check, text, colour string) {
	c.holds(strings.Contains(strings.ToLower(text), colour), "the %s picture is called %q", colour, text)
}

var openaiVision = []openaiCase{
	{"vision/plain", func(ctx context.Context, client openai.Client, model string, c *check) {
		for colour := range colours {
			reply, err := client.Chat.Completions.New(ctx, openaiLook(c, model, colour))
			if c.fine(err) {
				named(c, reply.Choices[0].Message.Content, colour)
			}
		}
	}},
	{"vision/stream", func(ctx context.Context, client openai.Client, model string, c *check) {
		for colour := range colours {
			acc, err := openaiRead(ctx, client, openaiLook(c, model, colour))
			if c.fine(err) {
				named(c, acc.Choices[0].Message.Content, colour)
			}
		}
	}},
	{"vision/responses", func(ctx context.Context, client openai.Client, model string, c *check) {
		for colour := range colours {
			reply, err := client.Responses.New(ctx, responsesLook(c, model, colour))
			if c.fine(err) {
				named(c, reply.OutputText(), colour)
			}
		}
	}},
	{"vision/responses-stream", func(ctx context.Context, client openai.Client, model string, c *check) {
		for colour := range colours {
			events := client.Responses.NewStreaming(ctx, responsesLook(c, model, colour))
			text := ""
			for events.Next() {
				if event := events.Current(); event.Type == "response.output_text.delta" {
					text += event.Delta
				}
			}
			if c.fine(events.Err()) {
				named(c, text, colour)
			}
		}
	}},
}

func openaiLook(c *check, model, colour string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: model, MaxTokens: openai.Int(8), Temperature: openai.Float(0),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
			openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64," + picture(c, colour)}),
			openai.TextContentPart(whichColour),
		})},
	}
}

func responsesLook(c *check, model, colour string) responses.ResponseNewParams {
	content := responses.ResponseInputMessageContentListParam{
		{OfInputImage: &responses.ResponseInputImageParam{
			ImageURL: openai.String("data:image/png;base64," + picture(c, colour)), Detail: responses.ResponseInputImageDetailAuto}},
		responses.ResponseInputContentParamOfInputText(whichColour),
	}
	return responses.ResponseNewParams{
		Model: model, MaxOutputTokens: openai.Int(16), Temperature: openai.Float(0),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
			responses.ResponseInputItemParamOfMessage(content, responses.EasyInputMessageRoleUser)}},
	}
}

var anthropicVision = []anthropicCase{
	{"vision/plain", func(ctx context.Context, client anthropic.Client, model string, c *check) {
		for colour := range colours {
			reply, err := client.Messages.New(ctx, anthropicLook(c, model, colour))
			if c.fine(err) {
				named(c, textOf(reply), colour)
			}
		}
	}},
	{"vision/stream", func(ctx context.Context, client anthropic.Client, model string, c *check) {
		for colour := range colours {
			message, err := anthropicRead(ctx, client, anthropicLook(c, model, colour))
			if c.fine(err) {
				named(c, textOf(message), colour)
			}
		}
	}},
}

func anthropicLook(c *check, model, colour string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: anthropic.Model(model), MaxTokens: 8, Temperature: anthropic.Float(0),
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(
			anthropic.NewImageBlockBase64("image/png", picture(c, colour)), anthropic.NewTextBlock(whichColour))},
	}
}
