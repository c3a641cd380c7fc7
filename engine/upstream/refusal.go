package upstream

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// refusal is an error from the server, parsed from any of the forms in use.
type refusal struct {
	status        int    // HTTP status, or its equivalent for an error within a reply
	text          string // the whole body, for the log, without the key
	message       string
	code          string
	kind          string
	param         string
	tokens, limit int
	after         time.Duration // when to retry; 0: unknown
	late          bool          // the answer had begun
}

const maxRefusal = 256 << 10 // bytes of an error body that are read

// refusalTimeout is the timeout for the body of an error.
const refusalTimeout = 10 * time.Second

// readRefusal reads an error response.
func (r *reply) readRefusal(status int) refusal {
	limit := r.engine.refusalTimeout
	r.in.limit = limit
	defer time.AfterFunc(limit, func() { r.in.cancel(errTimeout) }).Stop()
	text, _ := io.ReadAll(&limited{in: io.LimitReader(r.in, maxRefusal), left: maxRefusal, share: r.share}) // a part of it is better than nothing
	out := r.parseRefusal(text)
	out.status = status
	return out
}

// parseRefusal parses an error, or none if there is no memory for it.
func (r *reply) parseRefusal(text []byte) refusal {
	text = text[:min(len(text), maxRefusal)]
	if !r.reserve(text) {
		text = nil
	}
	out := parseRefusal(text, r.key)
	out.wait(retryAfter(r.header.Get("Retry-After")))
	return out
}

// refusal parses an error within the reply.
func (r *reply) refusal(text []byte) refusal {
	out := r.parseRefusal(text)
	if out.status == 0 {
		out.status = statusOf(out)
	}
	return out
}

// parseRefusal parses an error body. Plain text becomes the message; HTML and
// JSON of an unknown form do not.
func parseRefusal(text []byte, key string) refusal {
	r := refusal{text: clean(string(text), key)}
	var value json.RawMessage
	if firstValue(text, &value) == nil {
		r.read(value, 0)
	} else if plain := strings.TrimSpace(string(text)); plain != "" && !strings.ContainsAny(plain[:1], "<{[") {
		r.message = plain
	}
	r.message = clean(r.message, key)
	if m := retryInMessage.FindStringSubmatch(r.message); m != nil && r.after == 0 {
		r.wait(parseDelay(m[1], unit(m[2])))
	}
	return r
}

// retryInMessage finds the retry delay in a message: Azure, Groq, OpenAI.
var retryInMessage = regexp.MustCompile(`(?i)(?:retry|try again) (?:after|in) (\d+(?:\.\d+)?) ?(ms|s|m)`)

func unit(name string) time.Duration {
	switch strings.ToLower(name) {
	case "ms":
		return time.Millisecond
	case "m":
		return time.Minute
	}
	return time.Second
}

// errorFields has the meaningful fields of an error, at any level. Servers disagree on
// their types.
type errorFields struct {
	Error    json.RawMessage `json:"error"`     // an object, a string or an array: the style itself, Ollama, Hugging Face
	Errors   json.RawMessage `json:"errors"`    // Cloudflare
	Detail   json.RawMessage `json:"detail"`    // FastAPI: a string, an object or an array
	BaseResp json.RawMessage `json:"base_resp"` // MiniMax
	Groq     json.RawMessage `json:"x_groq"`
	Metadata struct {
		Raw json.RawMessage `json:"raw"` // OpenRouter: the error of the server behind it
	} `json:"metadata"`

	Message json.RawMessage `json:"message"`
	Msg     json.RawMessage `json:"msg"`
	Title   json.RawMessage `json:"title"` // problem+json
	State   json.RawMessage `json:"status_msg"`
	Loc     []any           `json:"loc"` // FastAPI: the path

	Code       json.RawMessage `json:"code"` // a code or a status
	Status     json.RawMessage `json:"status"`
	StatusCode json.RawMessage `json:"status_code"`
	HTTPStatus json.RawMessage `json:"http_status_code"`
	Type       json.RawMessage `json:"type"`
	ErrorType  json.RawMessage `json:"error_type"` // TGI
	Param      json.RawMessage `json:"param"`      // a path, null or anything else

	Prompt  json.RawMessage `json:"n_prompt_tokens"` // llama-server
	Context json.RawMessage `json:"n_ctx"`

	RetryAfter json.RawMessage   `json:"retry_after"`
	Estimated  json.RawMessage   `json:"estimated_time"` // Hugging Face, in seconds
	Details    []json.RawMessage `json:"details"`        // Google: one of them has the delay
	RetryDelay json.RawMessage   `json:"retryDelay"`
}

// maxDepth limits the nesting of errors.
const maxDepth = 4

// read parses a value depth first: inner errors are more exact, and what is
// known stays.
func (r *refusal) read(value json.RawMessage, depth int) {
	if depth > maxDepth || !present(value) {
		return
	}
	switch value[0] {
	case '[':
		r.read(firstElement(value), depth+1)
	case '"':
		r.readText(value, depth)
	case '{':
		r.readObject(value, depth)
	}
}

// readText reads a message; some servers encode an error as JSON in it.
func (r *refusal) readText(value json.RawMessage, depth int) {
	text := word(value)
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		r.read(json.RawMessage(text), depth+1)
	}
	if r.message == "" {
		r.message = text
	}
}

func (r *refusal) readObject(value json.RawMessage, depth int) {
	var in errorFields
	_ = json.Unmarshal(value, &in) // skips fields of another type
	if raw := word(in.Metadata.Raw); strings.HasPrefix(raw, "{") && json.Valid([]byte(raw)) {
		r.read(json.RawMessage(raw), depth+1)
	}
	for _, inner := range []json.RawMessage{in.Error, in.Errors, in.Detail, in.BaseResp, in.Groq} {
		r.read(inner, depth+1)
	}
	for _, detail := range in.Details {
		r.read(detail, depth+1)
	}
	for _, text := range []json.RawMessage{in.Message, in.Msg, in.State, in.Title} {
		if r.message == "" && present(text) {
			r.read(text, depth+1)
		}
	}
	for _, code := range []json.RawMessage{in.Code, in.StatusCode, in.HTTPStatus, in.Status} {
		n, err := strconv.Atoi(cmp.Or(word(code), string(code)))
		switch {
		case err == nil && r.status == 0 && n >= 400 && n < 600:
			r.status = n
		case err != nil:
			r.code = cmp.Or(r.code, word(code))
		}
	}
	r.kind = cmp.Or(r.kind, word(in.Type), word(in.ErrorType))
	r.param = cmp.Or(r.param, word(in.Param), pathOfLoc(in.Loc))
	r.tokens, r.limit = max(r.tokens, natural(in.Prompt)), max(r.limit, natural(in.Context))
	for _, delay := range []json.RawMessage{in.RetryAfter, in.RetryDelay, in.Estimated} {
		r.wait(retryAfter(strings.TrimSuffix(cmp.Or(word(delay), string(delay)), "s")))
	}
}

func (r *refusal) wait(d time.Duration) { r.after = max(r.after, d) }

// pathOfLoc converts FastAPI's path to the style's notation.
func pathOfLoc(loc []any) string {
	var b strings.Builder
	for i, step := range loc {
		switch step := step.(type) {
		case float64:
			fmt.Fprintf(&b, "[%d]", int(step))
		case string:
			if i == 0 && (step == "body" || step == "query") {
				continue
			}
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

// word returns a JSON string; empty if value is not one.
func word(value json.RawMessage) (text string) {
	_ = json.Unmarshal(value, &text)
	return text
}

func natural(value json.RawMessage) (n int) {
	_ = json.Unmarshal(value, &n)
	return max(0, n)
}

// present reports whether a field has a value.
func present(value json.RawMessage) bool {
	switch string(value) {
	case "", "null", "false", `""`, "{}", "[]":
		return false
	}
	return true
}

// clean removes the key, which a server may echo, and control characters, which
// would break log lines.
func clean(text, key string) string {
	if key != "" {
		text = strings.ReplaceAll(text, key, "[key]")
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

func retryAfter(value string) time.Duration {
	if date, err := http.ParseTime(value); err == nil {
		return max(0, min(time.Until(date), maxDelay))
	}
	return parseDelay(value, time.Second)
}

// maxDelay limits a retry delay. Some servers have daily limits.
const maxDelay = 24 * time.Hour

// parseDelay parses a number of time units.
func parseDelay(number string, unit time.Duration) time.Duration {
	n, _ := strconv.ParseFloat(number, 64) // infinite if too large
	if !(n > 0) {
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(maxDelay)))
}

// maxLogged limits an error body in the log, in bytes: it may quote the prompt.
const maxLogged = 500

// Error returns the text for the log.
func (r refusal) Error() string {
	text := r.text
	if len(text) > maxLogged {
		text = strings.ToValidUTF8(text[:maxLogged], "") + "…"
	}
	return fmt.Sprintf("status %d: %s", r.status, text)
}

// seconds returns the retry delay, rounded up.
func (r refusal) seconds() int { return int((r.after + time.Second - 1) / time.Second) }

// kinds maps error types and codes, without punctuation, to a status. The first
// match counts.
var kinds = []struct {
	words  *regexp.Regexp
	status int
}{
	{regexp.MustCompile(`insufficientquota|payment|creditbalance|billing`), http.StatusPaymentRequired},
	{regexp.MustCompile(`ratelimit|toomanyrequests|resourceexhausted|throttl|quotaexceeded`), http.StatusTooManyRequests},
	{regexp.MustCompile(`overloaded|unavailable|nocapacity|outofcapacity|modelloading|currentlyloading|queuefull`), http.StatusServiceUnavailable},
	{regexp.MustCompile(`timeout|timedout|deadlineexceeded`), http.StatusGatewayTimeout},
	{regexp.MustCompile(`authentication|invalidapikey|incorrectapikey|unauthorized|unauthenticated`), http.StatusUnauthorized},
	{regexp.MustCompile(`permission|forbidden`), http.StatusForbidden},
	{regexp.MustCompile(`modelnotfound|notfounderror|^notfound`), http.StatusNotFound},
	{regexp.MustCompile(`requesttoolarge|payloadtoolarge`), http.StatusRequestEntityTooLarge},
	{regexp.MustCompile(`invalidrequest|badrequest|invalidargument|invalidparam|invalidprompt|invalidvalue|^valueerror|validation|unprocessable|^unsupported|contextlength|exceedcontextsize`),
		http.StatusBadRequest},
}

var between = regexp.MustCompile(`[^a-z0-9]+`)

// statusOf guesses the HTTP status of an error within a reply from its code and
// type, or without those from its message. The default is 500.
func statusOf(r refusal) int {
	words := []string{r.code, r.kind}
	if r.code == "" && r.kind == "" {
		words = []string{r.message}
	}
	for i, text := range words {
		words[i] = between.ReplaceAllString(strings.ToLower(text), "")
	}
	for _, k := range kinds {
		if slices.ContainsFunc(words, k.words.MatchString) {
			return k.status
		}
	}
	return http.StatusInternalServerError
}
