package openapi

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Document is a compiled OpenAPI document. It is immutable and safe for concurrent use.
type Document struct {
	Title       string
	Description string
	Profile     Profile
	Bodies      Bodies // bounds of every request body

	source     []byte
	spec       *openapi3.T
	operations []*Operation // in declared order
	errors     map[string]Error
}

// Operation is one operation of a document, for reading only.
type Operation struct {
	ID          string
	Method      string
	Path        string // in chi's syntax too: /v1/models/{model}
	Summary     string
	Description string
	Mark        Mark // in force: after narrowing
	Line        int  // in the document

	Parameters   []Parameter
	Body         *Use // JSON body; nil: none
	bodies       Bodies
	BodyRequired bool
	Examples     []jsontext.Value // of request bodies
	Replies      []Reply          // by status, then by media type
}

// Parameter is a value in the path, the query or a header.
type Parameter struct {
	Name     string
	In       string // path, query or header
	Required bool
	Use
}

// Reply is what an operation answers with one status and media type.
type Reply struct {
	Status      int
	Description string
	MediaType   string
	Headers     []Parameter
	Errors      []Error
	Body        *Use    // of a JSON reply
	Stream      *Stream // of an event stream
}

// Load compiles a document for [ProfileDefault]. It must be self-contained and may use only
// keywords that are enforced.
func Load(text []byte) (*Document, error) {
	loader := openapi3.NewLoader()
	loader.IncludeOrigin = true // lines, for declared order and for messages
	spec, err := loader.LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	// The loader does not know this part of OpenAPI 3.2.
	allowed := openapi3.AllowExtraSiblingFields(defaultMapping)
	if err := spec.Validate(loader.Context, openapi3.DisableExamplesValidation(), allowed); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return compile(text, spec, ProfileDefault)
}

// Narrow returns the document compiled for another profile.
func (d *Document) Narrow(p Profile) (*Document, error) {
	if p != ProfileDefault && p != ProfileDocument {
		return nil, fmt.Errorf("openapi: profile is %q, not %s or %s", p, ProfileDefault, ProfileDocument)
	}
	if p == d.Profile {
		return d, nil
	}
	return compile(d.source, d.spec, p)
}

func compile(source []byte, spec *openapi3.T, profile Profile) (*Document, error) {
	bodies, err := readBodies(spec)
	if err != nil {
		return nil, err
	}
	d := &Document{Title: spec.Info.Title, Description: spec.Info.Description, Profile: profile, Bodies: bodies, source: source, spec: spec}
	request, reply := newCompiler(forRequest, profile), newCompiler(forReply, profile)
	for path, item := range spec.Paths.Map() {
		for method, in := range item.Operations() {
			o, err := compileOperation(in, profile, request, reply)
			if err != nil {
				return nil, fmt.Errorf("openapi: %s %s: %w", method, path, err)
			}
			o.Method, o.Path, o.bodies = method, path, bodies
			d.operations = append(d.operations, o)
		}
	}
	slices.SortFunc(d.operations, func(a, b *Operation) int { return a.Line - b.Line })
	if err := errors.Join(request.link(), reply.link()); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return d, d.collectErrors()
}

// Source returns the document as it was written, for reading only.
func (d *Document) Source() []byte { return d.source }

// Operations lists the operations in declared order.
func (d *Document) Operations() []*Operation { return slices.Clone(d.operations) }

// Operation returns the operation with an operationId.
func (d *Document) Operation(id string) (*Operation, bool) {
	return d.find(func(o *Operation) bool { return o.ID == id })
}

// Route returns the operation of a method and a chi route pattern.
func (d *Document) Route(method, pattern string) (*Operation, bool) {
	return d.find(func(o *Operation) bool { return o.Method == method && o.Path == pattern })
}

func (d *Document) find(is func(*Operation) bool) (*Operation, bool) {
	i := slices.IndexFunc(d.operations, is)
	if i < 0 {
		return nil, false
	}
	return d.operations[i], true
}

func compileOperation(in *openapi3.Operation, profile Profile, request, reply *compiler) (*Operation, error) {
	o := &Operation{ID: in.OperationID, Summary: in.Summary, Description: in.Description, Line: line(in.Origin)}
	mark, err := readMark(in.Extensions)
	if err != nil {
		return nil, err
	}
	o.Mark = mark.Narrow(profile)
	for _, ref := range in.Parameters {
		p, err := compileParameter(ref.Value, profile, request)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", ref.Value.Name, err)
		}
		o.Parameters = append(o.Parameters, p)
	}
	if in.RequestBody != nil {
		if err := o.compileBody(in.RequestBody.Value, request); err != nil {
			return nil, fmt.Errorf("request body: %w", err)
		}
	}
	for status, ref := range in.Responses.Map() {
		if err := o.compileReply(status, ref.Value, reply); err != nil {
			return nil, fmt.Errorf("response %s: %w", status, err)
		}
	}
	slices.SortFunc(o.Replies, func(a, b Reply) int {
		if a.Status != b.Status {
			return a.Status - b.Status
		}
		return strings.Compare(a.MediaType, b.MediaType)
	})
	return o, nil
}

func compileParameter(in *openapi3.Parameter, profile Profile, c *compiler) (Parameter, error) {
	if in.Schema == nil {
		return Parameter{}, fmt.Errorf("has no schema")
	}
	use, err := c.use(in.Schema)
	if err != nil {
		return Parameter{}, err
	}
	if s := use.Schema; s.Kinds&Array != 0 && (s.Kinds != Array || s.Items == nil || s.Items.Schema.Kinds != String) {
		return Parameter{}, fmt.Errorf("%s: a list in a parameter holds strings", in.Name)
	}
	p := Parameter{Name: in.Name, In: in.In, Required: in.Required, Use: use}
	p.Description, p.Line = in.Description, line(in.Origin)
	mark, err := readMark(in.Extensions)
	if err != nil {
		return Parameter{}, err
	}
	p.Mark = mark.Narrow(profile)
	if p.effect = p.Mark.Server; p.effect == SupportPartial {
		p.Only, err = compileOnly(p.Mark.Only)
	}
	return p, err
}

const jsonType = "application/json"

func (o *Operation) compileBody(in *openapi3.RequestBody, c *compiler) error {
	media := in.Content[jsonType]
	if media == nil || media.Schema == nil {
		return fmt.Errorf("is not %s with a schema", jsonType)
	}
	use, err := c.use(media.Schema)
	if err != nil {
		return err
	}
	o.Body, o.BodyRequired = &use, in.Required
	examples := []any{}
	if media.Example != nil {
		examples = append(examples, media.Example)
	}
	for _, ref := range media.Examples {
		examples = append(examples, ref.Value.Value)
	}
	for _, example := range examples {
		text, err := json.Marshal(example, json.Deterministic(true))
		if err != nil {
			return fmt.Errorf("example: %w", err)
		}
		o.Examples = append(o.Examples, text)
	}
	slices.SortFunc(o.Examples, func(a, b jsontext.Value) int { return strings.Compare(string(a), string(b)) })
	return nil
}

func (o *Operation) compileReply(status string, in *openapi3.Response, c *compiler) error {
	code, err := strconv.Atoi(status)
	if err != nil {
		return fmt.Errorf("the status is no number")
	}
	description := ""
	if in.Description != nil {
		description = *in.Description
	}
	headers, err := compileHeaders(in.Headers, c)
	if err != nil {
		return err
	}
	for mediaType, media := range in.Content {
		r := Reply{Status: code, Description: description, MediaType: mediaType, Headers: headers}
		if r.Errors, err = compileErrors(code, media); err != nil {
			return err
		}
		if media.Schema != nil {
			use, err := c.use(media.Schema)
			if err != nil {
				return err
			}
			r.Body = &use
		}
		if media.ItemSchema != nil {
			if r.Stream, err = compileStream(media, c); err != nil {
				return err
			}
		}
		o.Replies = append(o.Replies, r)
	}
	return nil
}

// Check checks a request body, in which it may replace lone surrogates. An absent body is a
// violation only if the document requires one.
func (o *Operation) Check(body []byte) (Checked, *Violation) {
	if len(body) == 0 && !o.BodyRequired || o.Body == nil {
		return Checked{}, nil
	}
	t, v := parse(body, o.bodies)
	if v != nil {
		return Checked{}, v
	}
	c, v := t.check(o.Body)
	if v != nil {
		return Checked{}, v
	}
	return c.result(), nil
}
