package example

import (
	"encoding/json/jsontext"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// call names the method of each SDK for an operation, and how each prints the text of a
// stream.
type call struct {
	python, typescript, golang string
	// of a stream: statements that print the text of one event
	pythonEvent, typescriptEvent, golangEvent string
}

var calls = map[string]call{
	"openai/createChatCompletion": {
		"chat.completions.create", "chat.completions.create", "Chat.Completions.New",
		"if event.choices and event.choices[0].delta.content:\n        print(event.choices[0].delta.content, end=\"\")",
		"process.stdout.write(event.choices[0]?.delta?.content ?? \"\");",
		"if event := stream.Current(); len(event.Choices) > 0 {\nfmt.Print(event.Choices[0].Delta.Content)\n}",
	},
	"openai/createCompletion": {
		"completions.create", "completions.create", "Completions.New",
		"if event.choices:\n        print(event.choices[0].text, end=\"\")",
		"process.stdout.write(event.choices[0]?.text ?? \"\");",
		"if event := stream.Current(); len(event.Choices) > 0 {\nfmt.Print(event.Choices[0].Text)\n}",
	},
	"openai/createResponse": {
		"responses.create", "responses.create", "Responses.New",
		"if event.type == \"response.output_text.delta\":\n        print(event.delta, end=\"\")",
		"if (event.type === \"response.output_text.delta\") process.stdout.write(event.delta);",
		"if event := stream.Current(); event.Type == \"response.output_text.delta\" {\nfmt.Print(event.Delta)\n}",
	},
	"openai/createEmbedding":  {python: "embeddings.create", typescript: "embeddings.create", golang: "Embeddings.New"},
	"openai/createImage":      {python: "images.generate", typescript: "images.generate", golang: "Images.Generate"},
	"openai/listModels":       {python: "models.list", typescript: "models.list", golang: "Models.ListAutoPaging"},
	"openai/retrieveModel":    {python: "models.retrieve", typescript: "models.retrieve", golang: "Models.Get"},
	"anthropic/listModels":    {python: "models.list", typescript: "models.list", golang: "Models.ListAutoPaging"},
	"anthropic/retrieveModel": {python: "models.retrieve", typescript: "models.retrieve", golang: "Models.Get"},
	"anthropic/createMessage": {
		"messages.create", "messages.create", "Messages.New",
		"if event.type == \"content_block_delta\" and event.delta.type == \"text_delta\":\n        print(event.delta.text, end=\"\")",
		"if (event.type === \"content_block_delta\" && event.delta.type === \"text_delta\") {\n    process.stdout.write(event.delta.text);\n  }",
		"if event := stream.Current(); event.Type == \"content_block_delta\" {\nfmt.Print(event.Delta.Text)\n}",
	},
	"anthropic/countMessageTokens": {python: "messages.count_tokens", typescript: "messages.countTokens", golang: "Messages.CountTokens"},
	"anthropic/createMessageBatch": {python: "messages.batches.create", typescript: "messages.batches.create", golang: "Messages.Batches.New"},
}

// lists reports whether the operation is a list, which SDKs walk page by page.
func (x exchange) lists() bool { return strings.HasSuffix(x.operation, "/listModels") }

// argument is the value in the path, of operations without a body.
func (x exchange) argument() string { return x.Go }

func (x exchange) curl() string {
	var b strings.Builder
	b.WriteString("curl -s")
	if x.stream {
		b.WriteByte('N')
	}
	b.WriteString(" " + Address + x.path)
	if x.style == "anthropic" {
		b.WriteString(" \\\n  -H 'anthropic-version: 2023-06-01'")
	}
	if x.request.kind != 0 {
		body := jsonDialect.write(x.request, 0, 4)
		b.WriteString(" \\\n  -H 'Content-Type: application/json' \\\n  -d '" + strings.ReplaceAll(body, "'", `'\''`) + "'")
	}
	return b.String() + "\n"
}

func (x exchange) python() string {
	module, class, base := "openai", "OpenAI", Address+"/v1"
	if x.style == "anthropic" {
		module, class, base = "anthropic", "Anthropic", Address
	}
	var b strings.Builder
	if x.failed {
		fmt.Fprintf(&b, "import %s\nfrom %s import %s\n\n", module, module, class)
	} else {
		fmt.Fprintf(&b, "from %s import %s\n\n", module, class)
	}
	fmt.Fprintf(&b, "client = %s(base_url=%q, api_key=\"none\")\n", class, base)
	method := "client." + calls[x.operation].python
	indent := ""
	if x.failed {
		indent = "    "
	}
	request := method + "(" + pythonArguments(x, indent) + ")"
	switch {
	case x.failed:
		message := `error.body["message"]`
		if x.style == "anthropic" {
			message = `error.body["error"]["message"]`
		}
		fmt.Fprintf(&b, "try:\n    %s\nexcept %s.APIStatusError as error:\n    print(error.status_code, %s)\n", request, module, message)
	case x.lists():
		fmt.Fprintf(&b, "for model in %s:\n    print(model.id)\n", request)
	case x.stream:
		fmt.Fprintf(&b, "stream = %s\nfor event in stream:\n    %s\nprint()\n", request, calls[x.operation].pythonEvent)
	default:
		fmt.Fprintf(&b, "reply = %s\n", request)
		for _, path := range x.Show {
			fmt.Fprintf(&b, "print(%s)\n", counted(path, "len(%s)", "reply.%s"))
		}
	}
	return b.String()
}

func pythonArguments(x exchange, indent string) string {
	if x.request.kind == 0 {
		return x.argument()
	}
	depth := len(indent)/len(pythonDialect.indent) + 1
	inner := strings.Repeat(pythonDialect.indent, depth)
	var b strings.Builder
	extra := node{kind: jsontext.KindBeginObject}
	for i, name := range x.request.names {
		if slices.Contains(x.Extra, name) {
			extra.names, extra.values = append(extra.names, name), append(extra.values, x.request.values[i])
			continue
		}
		b.WriteString("\n" + inner + name + "=" + pythonDialect.write(x.request.values[i], depth, len(inner)+len(name)+2) + ",")
	}
	if len(extra.names) > 0 {
		b.WriteString("\n" + inner + "extra_body=" + pythonDialect.write(extra, depth, len(inner)+12) + ",")
	}
	return b.String() + "\n" + indent
}

func (x exchange) typescript() string {
	module, class, base := "openai", "OpenAI", Address+"/v1"
	if x.style == "anthropic" {
		module, class, base = "@anthropic-ai/sdk", "Anthropic", Address
	}
	var b strings.Builder
	fmt.Fprintf(&b, "import %s from %q;\n\nconst client = new %s({ baseURL: %q, apiKey: \"none\" });\n", class, module, class, base)
	depth, argument := 0, x.argument()
	if x.failed {
		depth = 1
	}
	if x.request.kind != 0 {
		argument = typescriptDialect.write(x.request.spreading(x.Extra), depth, 0)
	}
	request := "client." + calls[x.operation].typescript + "(" + argument + ")"
	switch {
	case x.failed:
		message := "error.error.message"
		if x.style == "anthropic" {
			message = "error.error.error.message"
		}
		fmt.Fprintf(&b, "try {\n  await %s;\n} catch (error) {\n  if (!(error instanceof %s.APIError)) throw error;\n  console.log(error.status, %s);\n}\n", request, class, message)
	case x.lists():
		fmt.Fprintf(&b, "for await (const model of %s) console.log(model.id);\n", request)
	case x.stream:
		fmt.Fprintf(&b, "const stream = await %s;\nfor await (const event of stream) {\n  %s\n}\nconsole.log();\n", request, calls[x.operation].typescriptEvent)
	default:
		fmt.Fprintf(&b, "const reply = await %s;\n", request)
		for _, path := range x.Show {
			if statement, ok := narrowed[path]; ok {
				b.WriteString(statement + "\n")
				continue
			}
			fmt.Fprintf(&b, "console.log(%s);\n", counted(path, "%s.length", "reply.%s"))
		}
	}
	return b.String()
}

// narrowed are the statements that print a path whose type in TypeScript is one of several.
var narrowed = map[string]string{
	"choices[0].message.tool_calls[0].function.arguments": "for (const call of reply.choices[0].message.tool_calls ?? []) {\n" +
		"  if (call.type === \"function\") console.log(call.function.arguments);\n}",
	"content[0].name":           "for (const block of reply.content) if (block.type === \"tool_use\") console.log(block.name);",
	"content[0].text":           "for (const block of reply.content) if (block.type === \"text\") console.log(block.text);",
	"len(data[0].b64_json)":     "console.log(reply.data?.[0].b64_json?.length);",
	"output[0].content[0].text": "console.log(reply.output_text);",
	"output[0].name":            "for (const item of reply.output) if (item.type === \"function_call\") console.log(item.name);",
	"output[0].summary[0].text": "for (const item of reply.output) if (item.type === \"reasoning\") console.log(item.summary[0].text);",
	"output[1].content[0].text": "console.log(reply.output_text);",
}

var length = regexp.MustCompile(`^len\((.+)\)$`)

// counted writes a path of the list, and its length where that is shown.
func counted(path, count, value string) string {
	if found := length.FindStringSubmatch(path); found != nil {
		return fmt.Sprintf(count, fmt.Sprintf(value, found[1]))
	}
	return fmt.Sprintf(value, path)
}
