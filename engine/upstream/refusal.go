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

// refusal is an error that the server tells, read from any of the forms in
// use.
type refusal struct {
	status        int    // of HTTP, or what stands for it in an error within a reply
	text          string // of the whole body, for the log, without the key
	message       string
	code          string
	kind          string
	param         string
	tokens, limit int
	after         time.Duration // when to ask again; 0: not told
	late          bool          // the answer had begun
}

const maxRefusal = 256 << 10 // bytes of an error that are read

// refusing is how long an error may take to come, once its status is here.
const refusing = 10 * time.Second

// readRefusal reads an error that has come with a status.
func (r *reply) readRefusal(status int) refusal {
	limit := r.engine.refusing
	r.in.limit = limit
	defer time.AfterFunc(limit, func() { r.in.cancel(errSilent) }).Stop()
	text, _ := io.ReadAll(&limited{in: io.LimitReader(r.in, maxRefusal), left: maxRefusal, share: r.share}) // half an error is better than none
	out := r.parseRefusal(text)
	out.status = status
	return out
}

// parseRefusal reads a text of which nothing is known where there is no memory
// for it.
func (r *reply) parseRefusal(text []byte) refusal {
	text = text[:min(len(text), maxRefusal)]
	if !r.weigh(text) {
		text = nil
	}
	out := parseRefusal(text, r.key)
	out.wait(retryAfter(r.header.Get("Retry-After")))
	return out
}

// refusal reads an error that has come within the reply.
func (r *reply) refusal(text []byte) refusal {
	out := r.parseRefusal(text)
	if out.status == 0 {
		out.status = statusOf(out)
	}
	return out
}

// parseRefusal reads a body. A body in none of the known forms is its own
// message where it is a text, and has none where it is a page or JSON.
func parseRefusal(text []byte, key string) refusal {
	r := refusal{text: clean(string(text), key)}
	var value json.RawMessage
	if firstValue(text, &value) == nil {
		r.read(value, 0)
	} else if plain := strings.TrimSpace(string(text)); plain != "" && !strings.ContainsAny(plain[:1], "<{[") {
		r.message = plain
	}
	r.message = clean(r.message, key)
	if m := pauseInWords.FindStringSubmatch(r.message); m != nil && r.after == 0 {
		r.wait(pause(m[1], unit(m[2])))
	}
	return r
}

// pauseInWords is when to ask again where a message alone tells: Azure, Groq,
// OpenAI.
var pauseInWords = regexp.MustCompile(`(?i)(?:retry|try again) (?:after|in) (\d+(?:\.\d+)?) ?(ms|s|m)`)

func unit(name string) time.Duration {
	switch strings.ToLower(name) {
	case "ms":
		return time.Millisecond
	case "m":
		return time.Minute
	}
	return time.Second
}

// told are the members that tell something, wherever in an error they stand.
// Types are what servers make of them.
type told struct {
	Error    json.RawMessage `json:"error"`     // an object, a text or a list: the style itself, Ollama, Hugging Face
	Errors   json.RawMessage `json:"errors"`    // Cloudflare
	Detail   json.RawMessage `json:"detail"`    // FastAPI: a text, an object, or a list of what is wrong
	BaseResp json.RawMessage `json:"base_resp"` // MiniMax
	Groq     json.RawMessage `json:"x_groq"`
	Metadata struct {
		Raw json.RawMessage `json:"raw"` // OpenRouter: the words of the server behind it
	} `json:"metadata"`

	Message json.RawMessage `json:"message"`
	Msg     json.RawMessage `json:"msg"`
	Title   json.RawMessage `json:"title"` // problem+json
	State   json.RawMessage `json:"status_msg"`
	Loc     []any           `json:"loc"` // FastAPI: where

	Code       json.RawMessage `json:"code"` // a word or a status
	Status     json.RawMessage `json:"status"`
	StatusCode json.RawMessage `json:"status_code"`
	HTTPStatus json.RawMessage `json:"http_status_code"`
	Type       json.RawMessage `json:"type"`
	ErrorType  json.RawMessage `json:"error_type"` // TGI
	Param      json.RawMessage `json:"param"`      // a name, null, or something of the server's own

	Prompt  json.RawMessage `json:"n_prompt_tokens"` // llama-server
	Context json.RawMessage `json:"n_ctx"`

	RetryAfter json.RawMessage   `json:"retry_after"`
	Estimated  json.RawMessage   `json:"estimated_time"` // Hugging Face, in seconds
	Details    []json.RawMessage `json:"details"`        // Google: one of them has the delay
	RetryDelay json.RawMessage   `json:"retryDelay"`
}

// maxDepth is how far errors are looked for inside each other.
const maxDepth = 4

// read takes what a value tells. What stands deeper is more exact, so it comes
// first, and what is known stays.
func (r *refusal) read(value json.RawMessage, depth int) {
	if depth > maxDepth || !present(value) {
		return
	}
	switch value[0] {
	case '[':
		r.read(first(value), depth+1)
	case '"':
		r.readText(value, depth)
	case '{':
		r.readObject(value, depth)
	}
}

// readText takes a message, in which some servers write an error as JSON.
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
	var in told
	_ = json.Unmarshal(value, &in) // a member of another type is left out
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
	r.param = cmp.Or(r.param, word(in.Param), atLoc(in.Loc))
	r.tokens, r.limit = max(r.tokens, natural(in.Prompt)), max(r.limit, natural(in.Context))
	for _, delay := range []json.RawMessage{in.RetryAfter, in.RetryDelay, in.Estimated} {
		r.wait(retryAfter(strings.TrimSuffix(cmp.Or(word(delay), string(delay)), "s")))
	}
}

func (r *refusal) wait(d time.Duration) { r.after = max(r.after, d) }

// atLoc is a parameter as the style writes it, of where FastAPI says it is.
func atLoc(loc []any) string {
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

// word is a value that is a text; empty where it is none.
func word(value json.RawMessage) (text string) {
	_ = json.Unmarshal(value, &text)
	return text
}

func natural(value json.RawMessage) (n int) {
	_ = json.Unmarshal(value, &n)
	return max(0, n)
}

// present reports whether a member holds anything.
func present(value json.RawMessage) bool {
	switch string(value) {
	case "", "null", "false", `""`, "{}", "[]":
		return false
	}
	return true
}

// clean takes the key out of a text, in case the server repeats it, and what
// would break a line of a log.
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
		return max(0, min(time.Until(date), longestPause))
	}
	return pause(value, time.Second)
}

// longestPause is the most that is told of when to ask again: a limit of
// a day is one that servers have.
const longestPause = 24 * time.Hour

// pause is a number of units of time.
func pause(number string, unit time.Duration) time.Duration {
	n, _ := strconv.ParseFloat(number, 64) // infinite where it is too large
	if !(n > 0) {
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(longestPause)))
}

// maxLogged is how much of an error's body the log gets, in bytes: it may
// quote the prompt.
const maxLogged = 500

// Error makes a cause for the log of a refusal.
func (r refusal) Error() string {
	text := r.text
	if len(text) > maxLogged {
		text = strings.ToValidUTF8(text[:maxLogged], "") + "…"
	}
	return fmt.Sprintf("status %d: %s", r.status, text)
}

// seconds is when to ask again, as clients are told.
func (r refusal) seconds() int { return int((r.after + time.Second - 1) / time.Second) }

// kinds are the words, without marks between them, by which servers tell what
// an error is; the first that fits counts.
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

// statusOf is the status that an error would have had as a reply of its own:
// by its words, or else that of a server that has failed. Its message counts
// only where there is nothing else.
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
