package comparison

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// object is a decoded JSON object. Documents are read as plain data, because those of
// vendors are not entirely valid.
type object = map[string]any

// Document is an OpenAPI document.
type Document struct {
	title, version string
	operations     []operation // in order of path and method
	schemas        object      // components
	// listing makes shapes of what the service is said to list, whatever the server
	// does with it.
	listing bool
}

// operation is one operation. Each part lists the alternatives of a union.
type operation struct {
	name       string // method and path
	parameters []parameter
	body       []object
	reply      []object // of status 200, as JSON
	events     []object // data of the events of a stream
	failure    []object // reply of status 4XX
	mark       any
}

type parameter struct {
	in, name string
	required bool
	schema   object
	mark     any
}

// Read reads a document of JSON or YAML, compressed by gzip or not.
func Read(path string) (*Document, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	d, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// Parse reads a document as [Read] does.
func Parse(text []byte) (*Document, error) {
	if bytes.HasPrefix(text, []byte{0x1f, 0x8b}) { // gzip's magic number
		r, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		if text, err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
	var decoded any
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		err = json.Unmarshal(text, &decoded)
	} else {
		err = yaml.Unmarshal(text, &decoded)
	}
	if err != nil {
		return nil, err
	}
	root, _ := plain(decoded).(object)
	if root["openapi"] == nil {
		return nil, fmt.Errorf("is no OpenAPI document")
	}
	info := child(root, "info")
	d := &Document{schemas: child(root, "components")}
	d.title, _ = info["title"].(string)
	if version := info["version"]; version != nil {
		d.version = fmt.Sprint(version)
	}
	prefix := ""
	if servers, _ := root["servers"].([]any); len(servers) > 0 {
		server, _ := servers[0].(object)
		address, _ := server["url"].(string)
		if u, err := url.Parse(address); err == nil {
			prefix = strings.TrimSuffix(u.Path, "/")
		}
	}
	paths := child(root, "paths")
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := child(paths, path)
		for _, method := range []string{"get", "post"} {
			if in := child(item, method); in != nil {
				d.operations = append(d.operations, d.operation(strings.ToUpper(method)+" "+prefix+path, item, in))
			}
		}
	}
	return d, nil
}

// plain converts all keys to strings: statuses are numbers in YAML.
func plain(v any) any {
	switch v := v.(type) {
	case object:
		for key, inner := range v {
			v[key] = plain(inner)
		}
		return v
	case map[any]any:
		o := object{}
		for key, inner := range v {
			o[fmt.Sprint(key)] = plain(inner)
		}
		return o
	case []any:
		for i, inner := range v {
			v[i] = plain(inner)
		}
	}
	return v
}

// child returns a field that is an object, or nil.
func child(o object, names ...string) object {
	for _, name := range names {
		o, _ = o[name].(object)
	}
	return o
}

// resolve follows references within the document.
func (d *Document) resolve(o object) object {
	for range 10 {
		ref, ok := o["$ref"].(string)
		if !ok {
			return o
		}
		tokens := strings.Split(strings.TrimPrefix(ref, "#/components/"), "/")
		if o = child(d.schemas, tokens...); o == nil {
			return nil
		}
	}
	return nil
}

const jsonType = "application/json"

func (d *Document) operation(name string, item, in object) operation {
	o := operation{name: name, mark: in[markName]}
	shared, _ := item["parameters"].([]any)
	own, _ := in["parameters"].([]any)
	for _, p := range slices.Concat(shared, own) {
		p, _ := p.(object)
		p = d.resolve(p)
		read := parameter{schema: child(p, "schema"), mark: p[markName]}
		read.in, _ = p["in"].(string)
		read.name, _ = p["name"].(string)
		read.required, _ = p["required"].(bool)
		o.parameters = append(o.parameters, read)
	}
	o.body = one(child(d.resolve(child(in, "requestBody")), "content", jsonType, "schema"))
	responses := child(in, "responses")
	success := child(d.resolve(child(responses, "200")), "content")
	o.reply = one(child(success, jsonType, "schema"))
	o.events = d.events(child(success, "text/event-stream"))
	for _, status := range []string{"4XX", "400"} {
		if o.failure == nil {
			o.failure = one(child(d.resolve(child(responses, status)), "content", jsonType, "schema"))
		}
	}
	return o
}

func one(schema object) []object {
	if schema == nil {
		return nil
	}
	return []object{schema}
}

// events returns the schemas of a stream's data. If a document describes whole
// events, as ours do, that is the JSON in the field data.
func (d *Document) events(media object) []object {
	if media["itemSchema"] == nil {
		return one(child(media, "schema"))
	}
	event := d.resolve(child(media, "itemSchema"))
	members := slices.Concat(objects(event["oneOf"]), objects(event["anyOf"]))
	if len(members) == 0 {
		members = one(event)
	}
	var all []object
	for _, m := range members {
		if data := child(d.resolve(m), "properties", "data", "contentSchema"); data != nil {
			all = append(all, data)
		}
	}
	return all
}

var pathParameter = regexp.MustCompile(`\{[^}]*\}`)

// find returns the operations with a method and path, ignoring the names of path
// parameters. Some vendors document a second form of an operation, with a query after
// the path; it comes later in the list.
func (d *Document) find(name string) []operation {
	same := func(s string) string {
		s, _, _ = strings.Cut(s, "?")
		return pathParameter.ReplaceAllString(s, "{}")
	}
	var all []operation
	for _, o := range d.operations {
		if same(o.name) == same(name) {
			all = append(all, o)
		}
	}
	return all
}

// component returns a reference to a schema by name.
func component(name string) object { return object{"$ref": "#/components/schemas/" + name} }
