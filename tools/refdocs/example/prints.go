package example

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strconv"
	"strings"
)

// prints is what the SDKs' code prints, read from the recorded reply.
func (x exchange) prints() (string, error) {
	if x.stream {
		return x.streamed()
	}
	reply, err := parse(x.reply)
	if err != nil {
		return "", err
	}
	switch {
	case x.failed:
		message, err := at(reply, "error.message")
		return fmt.Sprintf("%d %s\n", x.code, message), err
	case x.lists():
		var b strings.Builder
		for _, model := range reply.field("data").values {
			id, err := at(model, "id")
			if err != nil {
				return "", err
			}
			b.WriteString(id + "\n")
		}
		return b.String(), nil
	}
	var b strings.Builder
	for _, path := range x.Show {
		text, err := at(reply, path)
		if err != nil {
			return "", err
		}
		b.WriteString(text + "\n")
	}
	return b.String(), nil
}

// pieces are paths to the text of an event, the first that is there.
var pieces = map[string][]string{
	"openai/createChatCompletion": {"choices[0].delta.content"},
	"openai/createCompletion":     {"choices[0].text"},
	"openai/createResponse":       {"delta"},
	"anthropic/createMessage":     {"delta.text"},
}

func (x exchange) streamed() (string, error) {
	var b strings.Builder
	for line := range strings.Lines(string(x.reply)) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		event, err := parse([]byte(data))
		if err != nil {
			return "", err
		}
		for _, path := range pieces[x.operation] {
			if text, err := at(event, path); err == nil && text != "null" {
				b.WriteString(text)
				break
			}
		}
	}
	return b.String() + "\n", nil
}

// at is the text of the value at a path such as choices[0].message.content, or how many
// characters or items it has.
func at(n node, path string) (string, error) {
	if found := length.FindStringSubmatch(path); found != nil {
		of, err := find(n, found[1])
		if err != nil || of.kind == jsontext.KindBeginArray {
			return strconv.Itoa(len(of.values)), err
		}
		text, err := plain(of)
		return strconv.Itoa(len(text)), err
	}
	found, err := find(n, path)
	if err != nil {
		return "", err
	}
	return plain(found)
}

func plain(n node) (string, error) {
	if n.kind != jsontext.KindString {
		return n.text, nil
	}
	var text string
	err := json.Unmarshal([]byte(n.text), &text)
	return text, err
}

func find(n node, path string) (node, error) {
	for step := range strings.SplitSeq(strings.ReplaceAll(path, "[", "."), ".") {
		if index, isIndex := strings.CutSuffix(step, "]"); isIndex {
			i, err := strconv.Atoi(index)
			if err != nil || i >= len(n.values) {
				return n, fmt.Errorf("the reply has no %s", path)
			}
			n = n.values[i]
			continue
		}
		if n = n.field(step); n.kind == 0 {
			return n, fmt.Errorf("the reply has no %s", path)
		}
	}
	return n, nil
}
