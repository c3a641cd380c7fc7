package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/diglot/diglot/engine"
)

// refusal is an error that the server tells, read from any of the forms in
// use.
type refusal struct {
	status        int
	text          string // of the whole body, for the log, without the key
	message       string
	code          string
	kind          string
	param         string
	tokens, limit int
	after         time.Duration // of Retry-After; 0: not told
}

const maxRefusal = 64 << 10 // bytes of an error's body that are read

func readRefusal(response *http.Response, in io.Reader, key string) refusal {
	text, _ := io.ReadAll(io.LimitReader(in, maxRefusal)) // half an error is better than none
	r := parseRefusal(text, key)
	r.status = response.StatusCode
	r.after = retryAfter(response.Header.Get("Retry-After"))
	return r
}

// parseRefusal reads a body: {"error": {...}} as the document has it,
// {"error": "text"}, the members without the envelope (older vLLM),
// {"detail": ...} (FastAPI), or a list of one of these (Gemini). A body that
// is none of them has no message.
func parseRefusal(text []byte, key string) refusal {
	r := refusal{text: clean(string(text), key)}
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil && len(list) > 0 {
		text = list[0]
	}
	var envelope struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(text, &envelope) != nil {
		return r
	}
	inner := envelope.Error
	if inner == nil {
		inner = text
	}
	var told struct {
		Message string          `json:"message"`
		Code    json.RawMessage `json:"code"` // a word or a status
		Type    string          `json:"type"`
		Param   json.RawMessage `json:"param"` // a name, null, or something of the server's own
		Prompt  int             `json:"n_prompt_tokens"`
		Context int             `json:"n_ctx"`
	}
	if json.Unmarshal(inner, &told) == nil {
		r.message, r.kind, r.tokens, r.limit = told.Message, told.Type, told.Prompt, told.Context
		_ = json.Unmarshal(told.Code, &r.code) // stays empty where it is a status
		_ = json.Unmarshal(told.Param, &r.param)
	} else {
		_ = json.Unmarshal(inner, &r.message)
	}
	if r.message == "" {
		_ = json.Unmarshal(envelope.Detail, &r.message)
	}
	r.message = clean(r.message, key)
	return r
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
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(date))
	}
	return 0
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

// refused is what a refusal means to the client, and whether to try again.
func (e *Engine) refused(r refusal, op operation) *failure {
	if e.config.Errors != nil {
		return &failure{err: e.told(r, op), again: r.status == 429 || r.status == 503, after: r.after}
	}
	err := e.refusedRequest(r, op)
	if err == nil {
		return e.failed(r)
	}
	return &failure{err: err.Because(r)}
}

// told is a refusal in the words of the configuration. The numbers of a prompt
// that is too long are read as of any server.
func (e *Engine) told(r refusal, op operation) *engine.Error {
	if r.tooLong() {
		return r.contextLength(op).Because(r)
	}
	err := e.config.Errors.Refused(Report{Status: r.status, Code: r.code, Message: r.message}).Because(r)
	err.RetryAfter = r.seconds()
	return err.At(place(r.param))
}

// seconds is when to ask again, as clients are told.
func (r refusal) seconds() int { return int((r.after + time.Second - 1) / time.Second) }

// refusedRequest is the error of a request that would be refused again.
func (e *Engine) refusedRequest(r refusal, op operation) *engine.Error {
	switch {
	case r.tooLong():
		return r.contextLength(op)
	case r.status == 401 || r.status == 403:
		return lasting(engine.CodeInternal,
			"The server %s, which serves the model, does not accept the key of this server, or wants one: diglot login %s sets it.", e.host, e.host)
	case r.status == 402 || r.code == "insufficient_quota":
		return lasting(engine.CodeInternal, "The account at %s, which serves the model, has nothing left to spend.", e.host)
	case r.code == "model_not_found" && op.name == images: // or one that draws none, which the message may say
		return engine.Errorf(engine.CodeModelNotFound, "%s", firstOf(r.message, e.cannot(op).Message)).At(engine.Place{Field: engine.FieldModel})
	case r.code == "model_not_found" || r.status == 404 && op.name == chatCompletions:
		return engine.Errorf(engine.CodeModelNotFound, "The model %q does not exist at %s, which is to serve it.", e.config.Model, e.host).
			At(engine.Place{Field: engine.FieldModel})
	case r.status == 404 || r.status == 405 || r.status == 501 || op.foreign && r.status < 500 && r.status != 408 && r.status != 429:
		return e.cannot(op)
	case r.status == 413:
		return engine.Errorf(engine.CodeTooLarge, "The request is larger than %s, which serves the model, accepts.", e.host)
	case r.status < 300:
		return lasting(engine.CodeEngineCrashed, "The server of the model gave an answer that cannot be read.")
	case r.status >= 300 && r.status < 400:
		return lasting(engine.CodeEngineCrashed, "The server %s, which is to serve the model, says that it is elsewhere: the definition of the model must name the new address.", e.host)
	case r.status == 408 || r.status == 429 || r.status >= 500:
		return nil
	}
	code := engine.CodeInvalidArgument
	if strings.HasPrefix(r.code, "unsupported") {
		code = engine.CodeUnsupported
	}
	return engine.Errorf(code, "%s", firstOf(r.message, "The server of the model does not accept the request.")).At(place(r.param))
}

// cannot is the error of an operation that the server does not have.
func (e *Engine) cannot(op operation) *engine.Error {
	if op.name == images {
		return engine.Errorf(engine.CodeModelNotFound, "The server of the model %q draws no pictures.", e.config.Model).
			At(engine.Place{Field: engine.FieldModel})
	}
	return engine.Errorf(engine.CodeUnsupported, "The server of the model %q does not offer %s.", e.config.Model, op.name)
}

func lasting(code engine.Code, format string, args ...any) *engine.Error {
	err := engine.Errorf(code, format, args...)
	err.NoRetry = true
	return err
}

// failed is the error of a server that cannot answer now. Its text is for the
// log alone.
func (e *Engine) failed(r refusal) *failure {
	f := &failure{after: r.after}
	var err *engine.Error
	switch r.status {
	case 429, 503, 529:
		err = engine.Errorf(engine.CodeOverloaded, "The server of the model has too much to do.")
		err.RetryAfter = r.seconds()
		f.again = true
	case 408, 504:
		err = engine.Errorf(engine.CodeDeadline, "The server of the model took too long.")
		f.again = r.status == 504
	case 502:
		err = engine.Errorf(engine.CodeEngineCrashed, "The server of the model cannot be reached.")
		f.again = true
	default:
		err = engine.Errorf(engine.CodeEngineCrashed, "The server of the model has failed.")
	}
	f.err = err.Because(r)
	return f
}

// unanswered is the error of a request to which no headers came.
func (e *Engine) unanswered(ctx, trying context.Context, err error) *failure {
	var invalid *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	switch {
	case ctx.Err() != nil:
		return &failure{err: ctx.Err()}
	case errors.Is(context.Cause(trying), errSilent):
		return &failure{err: silent(err)}
	case errors.As(err, &invalid) || errors.As(err, &authority):
		return &failure{err: lasting(engine.CodeEngineCrashed,
			"The server %s, which serves the model, cannot prove that it is that server: its certificate is not valid here.", e.host).Because(err)}
	}
	if coded := (*engine.Error)(nil); errors.As(err, &coded) {
		return &failure{err: coded}
	}
	if e.config.Errors != nil {
		return &failure{err: e.config.Errors.Lost().Because(err), again: true, dangerous: true}
	}
	if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
		return &failure{err: engine.Errorf(engine.CodeEngineCrashed, "The server of the model cannot be reached.").Because(err), again: true}
	}
	return &failure{err: engine.Errorf(engine.CodeEngineCrashed, "The server of the model has closed the connection.").Because(err),
		again: true, dangerous: true}
}

func silent(err error) *engine.Error {
	return engine.Errorf(engine.CodeDeadline, "The server of the model was silent for too long.").Because(err)
}

// broken is the error of a reply that ends too early.
func (r *reply) broken(err error) error {
	switch {
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case errors.Is(err, errSilent):
		return silent(err)
	case r.engine.config.Errors != nil:
		return r.engine.config.Errors.Lost().Because(err)
	}
	return engine.Errorf(engine.CodeEngineCrashed, "The server of the model has broken off its answer.").Because(err)
}

// malformed is the error of a reply that cannot be read.
func (r *reply) malformed(what string) error {
	return engine.Errorf(engine.CodeEngineCrashed, "The server of the model gave an answer that cannot be read.").
		Because(fmt.Errorf("%s: %s", r.engine.host, what))
}

// told is the error that comes in the place of a chunk.
func (r *reply) told(text []byte) error {
	refusal := parseRefusal(text, r.key)
	if r.engine.config.Errors != nil {
		return r.engine.told(refusal, operation{name: r.operation})
	}
	refusal.status = http.StatusInternalServerError
	if refusal.tooLong() {
		return refusal.contextLength(operation{name: r.operation}).Because(refusal)
	}
	return engine.Errorf(engine.CodeEngineCrashed, "The server of the model has failed during its answer.").Because(refusal)
}

// tooLong says whether the prompt leaves no room, in the words of OpenAI and
// diglot, vLLM, SGLang, and llama-server.
func (r refusal) tooLong() bool {
	if r.code == "context_length_exceeded" || r.kind == "exceed_context_size_error" {
		return true
	}
	text := strings.ToLower(r.message)
	return r.status == 400 && (strings.Contains(text, "maximum context length") || strings.Contains(text, "context length of") ||
		strings.Contains(text, "exceeds the available context size") || strings.Contains(text, "longer than the model's context length"))
}

var (
	countOfTokens = regexp.MustCompile(`(\d+)(?: \w+)? tokens`)
	limitOfTokens = regexp.MustCompile(`(?:at most|maximum context length is|context length of|context size|context length|limit of) \(?(\d+)`)
)

// contextLength passes on the numbers, which clients use to shorten their
// conversation.
func (r refusal) contextLength(op operation) *engine.Error {
	err := engine.Errorf(engine.CodeContextLength, "%s", firstOf(r.message, "The prompt is too long for the model."))
	err.Tokens, err.Limit = r.tokens, r.limit
	if m := limitOfTokens.FindStringSubmatch(r.message); err.Limit == 0 && m != nil {
		err.Limit, _ = strconv.Atoi(m[1])
	}
	for _, m := range countOfTokens.FindAllStringSubmatch(r.message, -1) {
		if n, _ := strconv.Atoi(m[1]); r.tokens == 0 && n > err.Limit {
			err.Tokens = max(err.Tokens, n)
		}
	}
	if err.Tokens <= err.Limit || err.Limit == 0 {
		err.Tokens, err.Limit = 0, 0 // a number that was misread is worse than none
	}
	p := place(r.param)
	if p.Field == "" {
		p.Field = promptFields[op.name]
	}
	return err.At(p)
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
