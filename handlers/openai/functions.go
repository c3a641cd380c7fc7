package openai

import (
	"cmp"
	"fmt"
	"iter"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/optional"
	"github.com/diglot/diglot/handlers/internal/sse"
)

// dialect is how a reply reports calls. functions and function_call predate tools, and
// clients that send them read nothing else. A function is a tool that an answer calls at
// most once; only the names differ.
type dialect struct {
	place   func(engine.Place) string
	whole   func(*wire.ChatCompletion)
	encoder func(*encoder) sse.Encoder
}

var (
	toolDialect = dialect{
		place:   fromPlace,
		whole:   func(*wire.ChatCompletion) {},
		encoder: func(e *encoder) sse.Encoder { return e },
	}
	functionDialect = dialect{
		place:   fromFunctionPlace,
		whole:   asFunctionCalls,
		encoder: func(e *encoder) sse.Encoder { return functionEncoder{e} },
	}
)

func dialectOf(in *wire.CreateChatCompletionRequest) dialect {
	if hasFunctions(in) {
		return functionDialect
	}
	return toolDialect
}

func hasFunctions(in *wire.CreateChatCompletionRequest) bool {
	return len(optional.Or(in.Functions, nil)) > 0
}

// toCallable maps tools or functions.
func toCallable(in *wire.CreateChatCompletionRequest) ([]engine.Tool, engine.ToolChoice, error) {
	if hasFunctions(in) {
		return toFunctionsAlone(in)
	}
	if choice, err := toFunctionChoice(in); err != nil || len(choice.Names) > 0 {
		return nil, choice, cmp.Or(err, error(exchange.Invalid("function_call", "The function_call names a function, and the request has none.")))
	}
	tools, err := toTools(optional.Or(in.Tools, nil))
	if err != nil {
		return nil, engine.ToolChoice{}, err
	}
	choice, err := toToolChoice(in)
	return tools, choice, err
}

// toFunctionsAlone rejects fields of tools, which would have no effect.
func toFunctionsAlone(in *wire.CreateChatCompletionRequest) ([]engine.Tool, engine.ToolChoice, error) {
	var choice engine.ToolChoice
	if len(optional.Or(in.Tools, nil)) > 0 {
		return nil, choice, exchange.Invalid("functions", "functions is the predecessor of tools: send one of the two.")
	}
	if _, err := in.ToolChoice.Get(); err == nil {
		return nil, choice, exchange.Invalid("tool_choice", "tool_choice is for tools; with functions, send function_call.")
	}
	choice, err := toFunctionChoice(in)
	return toFunctions(optional.Or(in.Functions, nil)), choice, err
}

func toFunctions(in []wire.ChatCompletionFunctions) []engine.Tool {
	var tools []engine.Tool
	for _, f := range in {
		tools = append(tools, engine.Tool{
			Name:        f.Name,
			Description: optional.Or(f.Description, ""),
			Parameters:  optional.Or(f.Parameters, nil),
		})
	}
	return tools
}

func toFunctionChoice(in *wire.CreateChatCompletionRequest) (engine.ToolChoice, error) {
	choice := engine.ToolChoice{Single: true}
	option, err := in.FunctionCall.Get()
	if err != nil {
		return choice, nil // absent: auto
	}
	if mode, err := option.AsChatCompletionFunctionCallMode(); err == nil {
		if mode == wire.ChatCompletionFunctionCallModeNone {
			choice.Mode = engine.ToolNone
		}
		return choice, nil
	}
	function, err := option.AsFunctionName()
	if err != nil {
		return choice, err
	}
	choice.Mode, choice.Names = engine.ToolRequired, []string{function.Name}
	return choice, nil
}

// callFunction gives a call without an id one, which a function message refers to by the
// function's name.
func (c conversation) callFunction(call wire.FunctionCallParam) engine.ToolCall {
	id := fmt.Sprintf("function%d", len(c.calls))
	c.calls[id] = call.Name
	c.functions[call.Name] = id
	return engine.ToolCall{ID: id, Name: call.Name, Arguments: toArguments(call.Arguments)}
}

func (c conversation) toFunctionMessage(m wire.ChatCompletionFunctionMessageParam, param string) (engine.Message, error) {
	id, ok := c.functions[m.Name]
	if !ok {
		return engine.Message{}, exchange.Invalid(param+".name", "No earlier message calls a function named '%s'.", m.Name)
	}
	return engine.Message{
		Role: engine.RoleTool,
		Parts: []engine.Part{engine.ToolResult{
			CallID: id,
			Name:   m.Name,
			Parts:  []engine.Part{engine.Text{Text: optional.Or(m.Content, "")}},
		}},
	}, nil
}

// asFunctionCalls converts the calls of a whole reply.
func asFunctionCalls(out *wire.ChatCompletion) {
	for i := range out.Choices {
		choice := &out.Choices[i]
		if calls := choice.Message.ToolCalls; len(calls) > 0 {
			choice.Message.ToolCalls, choice.Message.FunctionCall = nil, &calls[0].Function
		}
		choice.FinishReason = asFunctionReason(choice.FinishReason)
	}
}

func asFunctionReason(reason wire.FinishReason) wire.FinishReason {
	if reason == wire.FinishReasonToolCalls {
		return wire.FinishReasonFunctionCall
	}
	return reason
}

// functionEncoder converts the calls of a stream.
type functionEncoder struct{ *encoder }

// Encode implements [sse.Encoder].
func (e functionEncoder) Encode(event engine.Event) []sse.Frame {
	switch v := event.(type) {
	case engine.BlockStart:
		if v.Kind != engine.BlockToolCall {
			return nil
		}
		return e.callDelta(v.Choice, wire.FunctionCallDelta{Name: &v.Name, Arguments: new("")})
	case engine.ToolCallDelta:
		return e.callDelta(v.Choice, wire.FunctionCallDelta{Arguments: &v.Arguments})
	case engine.Finish:
		choice := wire.NewChatCompletionChunkChoice(v.Choice, wire.ChatCompletionDelta{})
		choice.FinishReason.Set(asFunctionReason(fromFinishReason[v.Reason]))
		return e.chunk(choice)
	}
	return e.encoder.Encode(event)
}

func (e functionEncoder) callDelta(choice int, delta wire.FunctionCallDelta) []sse.Frame {
	return e.chunk(wire.NewChatCompletionChunkChoice(choice, wire.ChatCompletionDelta{FunctionCall: &delta}))
}

// fromFunctionPlace returns the path for clients that send functions.
func fromFunctionPlace(p engine.Place) string {
	switch p.Field {
	case engine.FieldTools:
		return fmt.Sprintf("functions[%d].parameters", p.Index) + exchange.Dotted(p.Path)
	case engine.FieldToolName:
		return fmt.Sprintf("functions[%d].name", p.Index)
	case engine.FieldToolChoice:
		return "function_call"
	}
	return fromPlace(p)
}

// name sets the client's paths in errors among the events.
func (d dialect) name(events iter.Seq2[engine.Event, error]) iter.Seq2[engine.Event, error] {
	return nameErrors(events, func(err *engine.Error) string {
		switch err.Place.Field {
		case engine.FieldTools, engine.FieldToolName, engine.FieldToolChoice:
			return d.place(err.Place)
		}
		return err.Param
	})
}

// ignore reports the parts of tool schemas that no grammar can enforce.
func (d dialect) ignore(x *exchange.Exchange, places []engine.Place) {
	for _, p := range places {
		x.Ignore(x.Locate(d.place(p)))
	}
}
