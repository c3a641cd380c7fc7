package main

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"os/exec"
	"strings"

	"github.com/diglot/diglot/tools/bench/ask"
)

// firstToken times a prompt of n tokens that no server has seen.
func firstToken(n int) func(context.Context, *target, model, string) (values, error) {
	return func(ctx context.Context, t *target, m model, key string) (values, error) {
		prompt, err := m.writer.Text(key, n)
		if err != nil {
			return nil, err
		}
		return metered(t, func() (values, int, error) {
			r, err := completion(ctx, t, m, prompt, 1, key)
			if err != nil {
				return nil, 0, err
			}
			if r.PromptTokens < n*9/10 || r.PromptTokens > n*11/10+8 {
				return nil, 0, fmt.Errorf("%w: a prompt of %d tokens, not %d", ask.ErrIncomplete, r.PromptTokens, n)
			}
			return values{"time": milliseconds(r.First), "rate": rate(r.PromptTokens, r.First)}, r.PromptTokens, nil
		})
	}
}

// story is a beginning that is different in each round.
func story(m model, key string) (string, error) {
	title, err := m.writer.Text(key, 8)
	return "A story about " + title + ".\n\nOnce upon a time there was a fox who built a mill by the river. One morning", err
}

// decode times what comes after the first token.
func decode(tokens int) func(context.Context, *target, model, string) (values, error) {
	return func(ctx context.Context, t *target, m model, key string) (values, error) {
		prompt, err := story(m, key)
		if err != nil {
			return nil, err
		}
		return metered(t, func() (values, int, error) {
			r, err := completion(ctx, t, m, prompt, tokens, key)
			if err != nil {
				return nil, 0, err
			}
			return values{"rate": rate(tokens-1, r.Decode())}, tokens, nil
		})
	}
}

// busy is decode beside a shell that counts nothing, as fast as it can.
func busy(tokens int) func(context.Context, *target, model, string) (values, error) {
	return func(ctx context.Context, t *target, m model, key string) (values, error) {
		loop := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := loop.Start(); err != nil {
			return nil, err
		}
		defer func() {
			_ = loop.Process.Kill()
			_ = loop.Wait() // it was killed
		}()
		return decode(tokens)(ctx, t, m, key)
	}
}

// form is a schema whose texts have an end, so that every reply has one. It is sent as it
// is: the order of properties is that of the reply.
const form = `{"type":"object","additionalProperties":false,
"required":["name","kind","amount","fresh","tags","address"],
"properties":{
 "name":{"type":"string","maxLength":20},
 "kind":{"enum":["vegetable","fruit","grain"]},
 "amount":{"type":"integer","minimum":1,"maximum":999},
 "fresh":{"type":"boolean"},
 "tags":{"type":"array","minItems":3,"maxItems":3,"items":{"enum":["organic","local","imported","seasonal"]}},
 "address":{"type":"object","additionalProperties":false,"required":["street","town"],
  "properties":{"street":{"type":"string","maxLength":20},"town":{"enum":["Harbour Town","Mill Village","Lake City"]}}}}}`

// filled is what the schema lets through.
type filled struct {
	Name, Kind string
	Amount     int
	Fresh      bool
	Tags       []string
	Address    struct{ Street, Town string }
}

// schema counts all tokens over the whole time: forced tokens may come at once.
func schema(ctx context.Context, t *target, m model, key string) (values, error) {
	words, err := m.writer.Text(key, 12)
	if err != nil {
		return nil, err
	}
	body := text(t.model, m, 400, key)
	delete(body, "logit_bias")
	body["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "form", "strict": true, "schema": jsontext.Value(form)}}
	body["messages"] = []any{map[string]string{"role": "user", "content": "Fill in the form for something sold on a market, as JSON. Notes: " + words}}
	r, err := t.client.Text(ctx, "chat/completions", body)
	if err != nil {
		return nil, err
	}
	if err := r.Completed(); err != nil {
		return nil, err
	}
	var f filled
	if err := json.Unmarshal([]byte(r.Text()), &f, json.MatchCaseInsensitiveNames(true)); err != nil || len(f.Tags) != 3 || f.Kind == "" || f.Address.Town == "" {
		return nil, fmt.Errorf("%w: %q does not follow the schema", ask.ErrIncomplete, r.Text())
	}
	return values{"rate": rate(r.Tokens, r.End)}, nil
}

// sentences are shuffled for each round.
var sentences = strings.Split(`The river bends twice before it reaches the old mill.
Every spring the miller repairs the wheel with planks of oak.
Boats that come up the river wait at the lower gate.
A heron stands where the river is shallow.
Flour from the mill goes to four villages.
When the river is high, the lower road is closed.
The school counts the fish in the river each June.
Two bridges cross the river, one for carts and one for people.
The mill has stood empty since the flood.
Lanterns hang along the river on the first night of autumn.
A path of stones leads from the river to the church.
Children learn to swim in the river before they are six.`, "\n")

const editTokens = 120

// edit has a text copied with a change. Half of it comes with the prompt, so that small
// models understand.
func edit(ctx context.Context, t *target, m model, key string) (values, error) {
	var original []string
	for _, i := range m.writer.Random(key).Perm(len(sentences)) {
		original = append(original, sentences[i])
	}
	wanted := strings.ReplaceAll(strings.Join(original, " "), "river", "canal")
	begun := strings.ReplaceAll(strings.Join(original[:2], " "), "river", "canal")
	body := text(t.plain, m, editTokens, key)
	body["temperature"] = 0
	body["prompt"] = "Original text:\n" + strings.Join(original, " ") + "\n\nThe same text, with \"canal\" in the place of \"river\":\n" + begun
	r, err := t.client.Text(ctx, "completions", body)
	if err != nil {
		return nil, err
	}
	if err := r.Limited(1, editTokens); err != nil {
		return nil, err
	}
	return values{"rate": rate(editTokens-1, r.Decode()), "copied": 100 * copied(r.Text(), wanted)}, nil
}

// copied is the part of a text's words that follow their two predecessors in another text
// too.
func copied(text, from string) float64 {
	words, of := strings.Fields(text), " "+strings.Join(strings.Fields(from), " ")+" "
	if len(words) < 3 {
		return 0
	}
	n := 0
	for i := range len(words) - 2 {
		if strings.Contains(of, " "+strings.Join(words[i:i+3], " ")+" ") {
			n++
		}
	}
	return float64(n) / float64(len(words)-2)
}
