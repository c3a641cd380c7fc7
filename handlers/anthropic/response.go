package anthropic

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/json/jsontext"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/anthropic"
	"github.com/diglot/diglot/internal/plainjson"
)

// head holds what a reply knows from its start.
type head struct {
	id    string
	model string
}

func newID(prefix string) string { return prefix + rand.Text() }

// fromHead returns the message before anything was generated.
func fromHead(h head, promptTokens int) wire.Message {
	return wire.NewMessage(h.id, h.model, fromUsage(engine.Usage{PromptTokens: promptTokens}))
}

func fromResponse(h head, r *engine.Response) wire.Message {
	out := fromHead(h, r.PromptTokens)
	out.Usage = fromUsage(r.Usage)
	for _, choice := range r.Choices { // one: this style has no choices
		for _, b := range choice.Blocks {
			out.Content = append(out.Content, fromBlock(b))
		}
		end := fromFinish(choice.Reason, choice.StopSequence)
		out.StopReason.Set(end.StopReason)
		out.StopSequence = end.StopSequence
	}
	return out
}

var fromFinishReason = map[engine.FinishReason]wire.StopReason{
	engine.FinishEndOfTurn:    wire.StopReasonEndTurn,
	engine.FinishStopSequence: wire.StopReasonStopSequence,
	engine.FinishMaxTokens:    wire.StopReasonMaxTokens,
	engine.FinishToolCalls:    wire.StopReasonToolUse,
}

// fromFinish maps the finish reason.
func fromFinish(reason engine.FinishReason, sequence string) wire.MessageDelta {
	out := wire.NewMessageDelta(fromFinishReason[reason])
	if reason == engine.FinishStopSequence {
		out.StopSequence.Set(sequence)
	}
	return out
}

// fromUsage counts the whole prompt as input, cached tokens included: prompt caching is not
// reported in this style.
func fromUsage(u engine.Usage) wire.Usage {
	return wire.NewUsage(u.PromptTokens, u.CompletionTokens)
}

func fromBlock(b engine.Block) wire.ContentBlock {
	var out wire.ContentBlock
	switch b.Kind {
	case engine.BlockReasoning:
		out = thinkingBlock(b.Text, signature(sha256.Sum256([]byte(b.Text))))
	case engine.BlockToolCall:
		out = toolUseBlock(b.CallID, b.Name, fromArguments(b.Arguments))
	default:
		out = textBlock(b.Text)
	}
	return out
}

// signature fills the signature of a thinking block: clients drop blocks without one when
// they send them back. It proves nothing.
func signature(sum [sha256.Size]byte) string { return base64.StdEncoding.EncodeToString(sum[:]) }

func textBlock(text string) (out wire.ContentBlock) {
	hold(&out, wire.NewTextBlock(text))
	return out
}

func thinkingBlock(text, signature string) (out wire.ContentBlock) {
	hold(&out, wire.NewThinkingBlock(text, signature))
	return out
}

func toolUseBlock(id, name string, input json.RawMessage) (out wire.ContentBlock) {
	hold(&out, wire.NewToolUseBlock(fromCallID(id), name, input))
	return out
}

// hold puts a value into a union. The generated methods decode the value once more, which
// sorts fields and rounds large numbers in tool input. It cannot fail: values are strings
// and valid JSON.
func hold(union json.Unmarshaler, value any) {
	b, _ := plainjson.Marshal(value)
	_ = union.UnmarshalJSON(b)
}

// fromArguments makes the object that this style requires from the model's text. A call cut
// by the token limit keeps its complete fields, as the SDKs do with the same text in a
// stream.
func fromArguments(arguments string) json.RawMessage {
	text := jsontext.Value(arguments)
	if text.Kind() == '{' && text.IsValid(jsontext.AllowDuplicateNames(true)) {
		return json.RawMessage(text)
	}
	var out bytes.Buffer
	in := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	out.WriteByte('{')
	if token, err := in.ReadToken(); err == nil && token.Kind() == '{' {
		copyMembers(&out, in)
	}
	out.WriteByte('}')
	return out.Bytes()
}

// copyMembers copies the fields of an object up to the first incomplete one.
func copyMembers(out *bytes.Buffer, in *jsontext.Decoder) {
	for separator := ""; in.PeekKind() == '"'; separator = "," {
		name, err := in.ReadValue()
		if err != nil {
			return
		}
		name = name.Clone() // the next read reuses its memory
		value, err := in.ReadValue()
		if err != nil {
			return
		}
		out.WriteString(separator)
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
}
