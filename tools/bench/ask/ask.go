// Package ask sends the requests of the benchmark and times their replies. It speaks the
// OpenAI style, which all servers have, streams every text, and holds each reply to what
// was asked for: a server that stops early is not fast.
package ask

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Client asks one server.
type Client struct {
	URL  string
	HTTP *http.Client
}

// Body is a request without what all requests have.
type Body map[string]any

// Reply is a text and when it came, as times since the request was sent.
type Reply struct {
	First, Last, End time.Duration // the first and the last text, the end of the reply
	Texts            map[int]string
	Finish           map[int]string // by choice
	Tokens           int            // of the text, as the server counts
	PromptTokens     int
}

// Text is that of the only choice.
func (r Reply) Text() string { return r.Texts[0] }

// Decode is the time between the first and the last text.
func (r Reply) Decode() time.Duration { return r.Last - r.First }

// ErrIncomplete means that a reply is not what was asked for.
var ErrIncomplete = errors.New("incomplete reply")

// Limited is an error unless each of n choices has so many tokens and says that it ended
// at the limit.
func (r Reply) Limited(n, tokens int) error {
	if len(r.Finish) != n {
		return fmt.Errorf("%w: %d choices of %d", ErrIncomplete, len(r.Finish), n)
	}
	if r.Tokens != n*tokens {
		return fmt.Errorf("%w: %d tokens of %d", ErrIncomplete, r.Tokens, n*tokens)
	}
	for _, finish := range r.Finish {
		if finish != "length" {
			return fmt.Errorf("%w: finish reason %q, not length", ErrIncomplete, finish)
		}
	}
	return nil
}

// Completed is an error unless the only choice ended by itself.
func (r Reply) Completed() error {
	if len(r.Finish) != 1 || r.Finish[0] != "stop" || r.Tokens == 0 {
		return fmt.Errorf("%w: finish reasons %v, %d tokens", ErrIncomplete, r.Finish, r.Tokens)
	}
	return nil
}

// chunk is an event of a stream of completions or of chat completions.
type chunk struct {
	Choices []struct {
		Index  int    `json:"index"`
		Text   string `json:"text"`
		Delta  delta  `json:"delta"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
	// What llama.cpp says where it has no usage.
	Timings *struct {
		Prompt     int `json:"prompt_n"`
		Completion int `json:"predicted_n"`
	} `json:"timings"`
	Error any `json:"error"`
}

type delta struct {
	Content   string `json:"content"`
	Reasoning string `json:"reasoning_content"`
}

// Text asks for a streamed reply on one of the paths completions or chat/completions.
func (c Client) Text(ctx context.Context, path string, body Body) (Reply, error) {
	body["stream"] = true
	body["stream_options"] = map[string]bool{"include_usage": true}
	start := time.Now()
	response, err := c.post(ctx, path, body)
	if err != nil {
		return Reply{}, err
	}
	defer response.Body.Close()
	r := Reply{Texts: map[int]string{}, Finish: map[int]string{}}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok || string(data) == "[DONE]" {
			continue
		}
		if err := r.add(data, start); err != nil {
			return r, err
		}
	}
	r.End = time.Since(start)
	return r, lines.Err()
}

// add takes over an event that has just come.
func (r *Reply) add(data []byte, start time.Time) error {
	var e chunk
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("event %s: %w", data, err)
	}
	if e.Error != nil {
		return fmt.Errorf("event %s", data)
	}
	for _, choice := range e.Choices {
		if text := choice.Text + choice.Delta.Reasoning + choice.Delta.Content; text != "" {
			r.Last = time.Since(start)
			if r.First == 0 {
				r.First = r.Last
			}
			r.Texts[choice.Index] += text
		}
		if choice.Finish != "" {
			r.Finish[choice.Index] = choice.Finish
		}
	}
	switch {
	case e.Usage != nil: // llama-server has one for each choice
		r.Tokens += e.Usage.Completion
		r.PromptTokens = e.Usage.Prompt
	case e.Timings != nil:
		r.Tokens += e.Timings.Completion
		r.PromptTokens = e.Timings.Prompt
	}
	return nil
}

// Vectors asks for embeddings of all inputs at once and returns their vectors.
func (c Client) Vectors(ctx context.Context, model string, inputs []string) ([][]float64, error) {
	response, err := c.post(ctx, "embeddings", Body{"model": model, "input": inputs, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var reply struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float64 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.UnmarshalRead(response.Body, &reply); err != nil {
		return nil, err
	}
	vectors := make([][]float64, len(inputs))
	for _, d := range reply.Data {
		if d.Index < 0 || d.Index >= len(inputs) {
			return nil, fmt.Errorf("%w: a vector of input %d", ErrIncomplete, d.Index)
		}
		vectors[d.Index] = d.Embedding
	}
	for i, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return nil, fmt.Errorf("%w: input %d has a vector of %d dimensions, the first of %d", ErrIncomplete, i, len(v), len(vectors[0]))
		}
	}
	return vectors, nil
}

// StatusError is a reply that is no success.
type StatusError struct {
	Status int
	Body   string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("status %d: %s", e.Status, strings.TrimSpace(e.Body))
}

func (c Client) post(ctx context.Context, path string, body Body) (*http.Response, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/v1/"+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.HTTP.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		said, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return nil, &StatusError{response.StatusCode, string(said)}
	}
	return response, nil
}
