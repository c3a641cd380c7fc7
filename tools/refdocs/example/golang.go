package example

import (
	"fmt"
	"go/format"
	"regexp"
	"slices"
	"strings"
)

// golang writes the example as a program.
func (x exchange) golang() (string, error) {
	var b strings.Builder
	base, name := Address+"/v1", "openai"
	if x.style == "anthropic" {
		base, name = Address, "anthropic"
	}
	fmt.Fprintf(&b, "func main() {\nclient := %s.NewClient(option.WithBaseURL(%q), option.WithAPIKey(\"none\"))\n", name, base)
	method, arguments := "client."+calls[x.operation].golang, x.golangArguments()
	switch {
	case x.failed:
		message := "apiError.Message"
		if x.style == "anthropic" {
			message = "body.Error.Message"
		}
		fmt.Fprintf(&b, "_, err := %s(%s)\nvar apiError *%s.Error\nif !errors.As(err, &apiError) {\nlog.Fatal(err)\n}\n", method, arguments, name)
		if x.style == "anthropic" {
			b.WriteString("var body anthropic.ErrorResponse\nif err := json.Unmarshal([]byte(apiError.RawJSON()), &body); err != nil {\nlog.Fatal(err)\n}\n")
		}
		fmt.Fprintf(&b, "fmt.Println(apiError.StatusCode, %s)\n", message)
	case x.lists():
		fmt.Fprintf(&b, "models := %s(%s)\nfor models.Next() {\nfmt.Println(models.Current().ID)\n}\nif err := models.Err(); err != nil {\nlog.Fatal(err)\n}\n", method, arguments)
	case x.stream:
		fmt.Fprintf(&b, "stream := %sStreaming(%s)\nfor stream.Next() {\n%s\n}\nif err := stream.Err(); err != nil {\nlog.Fatal(err)\n}\nfmt.Println()\n",
			method, arguments, calls[x.operation].golangEvent)
	default:
		fmt.Fprintf(&b, "reply, err := %s(%s)\nif err != nil {\nlog.Fatal(err)\n}\n", method, arguments)
		for _, path := range x.Show {
			fmt.Fprintf(&b, "fmt.Println(%s)\n", counted(exported(path), "len(%s)", "reply.%s"))
		}
	}
	b.WriteString("}\n")
	text, err := format.Source([]byte("package main\n\n" + imports(b.String()) + b.String()))
	return string(text), err
}

func (x exchange) golangArguments() string {
	arguments := "context.Background()"
	if x.Go != "" {
		arguments += ", " + strings.TrimSpace(x.Go)
	}
	switch x.operation {
	case "anthropic/listModels":
		arguments += ", anthropic.ModelListParams{}"
	case "anthropic/retrieveModel":
		arguments += ", anthropic.ModelGetParams{}"
	}
	return arguments
}

var (
	qualifier = regexp.MustCompile(`\b([a-z]+)\.[A-Z]`)
	word      = regexp.MustCompile(`[a-z][a-z0-9]*_?`)
	packages  = map[string]string{
		"openai":    "github.com/openai/openai-go/v3",
		"responses": "github.com/openai/openai-go/v3/responses",
		"shared":    "github.com/openai/openai-go/v3/shared",
		"anthropic": "github.com/anthropics/anthropic-sdk-go",
		"context":   "context", "errors": "errors", "fmt": "fmt", "json": "encoding/json", "log": "log",
	}
)

// imports lists what a program uses.
func imports(program string) string {
	var standard, others []string
	vendor := packages["openai"]
	if strings.Contains(program, "anthropic.") {
		vendor = packages["anthropic"]
	}
	for _, found := range qualifier.FindAllStringSubmatch(program, -1) {
		path := packages[found[1]]
		if found[1] == "option" {
			path = vendor + "/option"
		}
		if to := &standard; path != "" {
			if strings.Contains(path, ".") {
				to = &others
			}
			if !slices.Contains(*to, path) {
				*to = append(*to, path)
			}
		}
	}
	slices.Sort(standard)
	slices.Sort(others)
	var b strings.Builder
	b.WriteString("import (\n")
	for _, path := range standard {
		fmt.Fprintf(&b, "%q\n", path)
	}
	b.WriteByte('\n')
	for _, path := range others {
		fmt.Fprintf(&b, "%q\n", path)
	}
	b.WriteString(")\n\n")
	return b.String()
}

// exported writes a path of JSON fields as those of Go structs.
func exported(path string) string {
	inner, isLength := path, false
	if found := length.FindStringSubmatch(path); found != nil {
		inner, isLength = found[1], true
	}
	inner = word.ReplaceAllStringFunc(inner, func(w string) string {
		w = strings.TrimSuffix(w, "_")
		if w == "id" || w == "json" || w == "url" {
			return strings.ToUpper(w)
		}
		return strings.ToUpper(w[:1]) + w[1:]
	})
	if isLength {
		return "len(" + inner + ")"
	}
	return inner
}
