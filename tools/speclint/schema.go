package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/diglot/diglot/openapi"
)

// schema checks a schema and all schemas in it; inline means that it is not a named
// component.
func (l *linter) schema(s *yaml.Node, inline bool) {
	if s = resolve(s); s == nil {
		return
	}
	if s.Kind != yaml.MappingNode {
		l.add(s, "a schema is written as an object")
		return
	}
	l.keywords(s)
	l.mark(s)
	l.follow(s)
	if inline && get(s, "properties") != nil {
		l.add(s, "an object with properties is a component, so that its type has a name")
	}
	l.object(s)
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if list := get(s, keyword); list != nil {
			for _, branch := range list.Content {
				l.schema(branch, true)
			}
			l.discriminator(s, list)
		}
	}
	l.schema(get(s, "items"), true)
	l.schema(get(s, "contentSchema"), true)
	if list := get(s, "enum"); list != nil {
		l.enum(s, list)
	}
}

func (l *linter) keywords(s *yaml.Node) {
	for _, m := range members(s) {
		if m.name == "$ref" {
			continue
		}
		if err := openapi.CheckKeyword(m.name); err != nil {
			l.add(m.key, "%v", err)
		}
	}
}

func (l *linter) object(s *yaml.Node) {
	properties := get(s, "properties")
	for _, p := range members(properties) {
		l.described(p.value, "property "+p.name)
		l.schema(p.value, true)
	}
	l.order(properties)
	if required := get(s, "required"); required != nil {
		for _, name := range required.Content {
			if get(properties, name.Value) == nil {
				l.add(name, "required property %s is not defined", name.Value)
			}
		}
	}
	switch extra := get(s, "additionalProperties"); {
	case extra == nil:
	case extra.Kind == yaml.MappingNode:
		l.schema(extra, true)
	case extra.Value == "false":
		l.add(extra, "additionalProperties false would refuse what newer clients send; replies are closed by their check")
	}
}

// order checks that x-order numbers the first properties, in declared order.
func (l *linter) order(properties *yaml.Node) {
	for i, p := range members(properties) {
		order := get(p.value, "x-order")
		before := i == 0 || get(members(properties)[i-1].value, "x-order") != nil
		if order != nil && (!before || order.Value != strconv.Itoa(i+1)) {
			l.add(order, "x-order of %s: members are numbered from 1 in declared order", p.name)
		}
	}
}

// enum rejects null values, of which the generator would make a constant <nil>.
func (l *linter) enum(s, list *yaml.Node) {
	if get(s, "type") == nil {
		l.add(s, "enum without type")
	}
	for _, value := range list.Content {
		if value.Tag == "!!null" {
			l.add(value, "null in an enum: write anyOf of the enum and type null")
		}
	}
}

// discriminator checks that the objects of a union can be told apart: each has its own
// value of the discriminator.
func (l *linter) discriminator(s, list *yaml.Node) {
	var objects []*yaml.Node
	for _, branch := range list.Content {
		if get(branch, "$ref") != nil && get(l.follow(branch), "properties") != nil {
			objects = append(objects, branch)
		}
	}
	d := get(s, "discriminator")
	if d == nil {
		if len(objects) > 1 && !l.isStream(objects) {
			l.add(s, "a union of several objects needs a discriminator")
		}
		return
	}
	name := get(d, "propertyName")
	if name == nil {
		l.add(d, "discriminator without propertyName")
		return
	}
	mapping := members(get(d, "mapping"))
	for _, branch := range objects {
		ref := get(branch, "$ref").Value
		i := slices.IndexFunc(mapping, func(m member) bool { return m.value.Value == ref })
		if i < 0 {
			l.add(branch, "the discriminator has no value for %s", ref)
			continue
		}
		property := l.follow(get(get(l.follow(branch), "properties"), name.Value))
		values := get(property, "enum")
		if values == nil || !slices.ContainsFunc(values.Content, func(v *yaml.Node) bool { return v.Value == mapping[i].name }) {
			l.add(mapping[i].key, "%s does not list %s among the values of its %s", ref, mapping[i].name, name.Value)
		}
	}
}

// isStream reports whether the objects are events, which are told apart by name.
func (l *linter) isStream(objects []*yaml.Node) bool {
	return !slices.ContainsFunc(objects, func(o *yaml.Node) bool { return get(l.follow(o), "x-event-name") == nil })
}

// mark checks the marks of a node and of its enum values.
func (l *linter) mark(n *yaml.Node) {
	if mark := get(n, "x-support"); mark != nil {
		l.words(mark)
	}
	for _, value := range members(get(n, "x-support-values")) {
		l.words(value.value)
	}
}

func (l *linter) words(mark *yaml.Node) {
	var value any
	if err := mark.Decode(&value); err != nil {
		l.add(mark, "x-support: %v", err)
		return
	}
	m, err := openapi.ParseMark(value)
	switch {
	case err != nil:
		l.add(mark, "%v", err)
	case m.Plain() && m.Note == "" && m.Detail == "":
		l.add(mark, "x-support says what its absence would say too")
	case m.Note != "" && !strings.HasSuffix(m.Note, "."):
		l.add(mark, "x-support: the note is a sentence and ends with a full stop")
	case m.Detail != "" && !slices.Contains(l.errorNames, "unsupported."+m.Detail):
		l.add(mark, "x-support: the detail %s is no error of the document", m.Detail)
	}
	if only := get(mark, "only"); only != nil {
		l.keywords(only)
	}
}

var word = regexp.MustCompile(`[a-z_][a-z_.]*`)

// stream checks the contract of an event stream.
func (l *linter) stream(media member) {
	sequence := get(media.value, "x-event-sequence")
	if sequence == nil {
		l.add(media.key, "event stream without x-event-sequence")
		return
	}
	if _, err := regexp.Compile(sequence.Value); err != nil {
		l.add(sequence, "x-event-sequence: %v", err)
	}
	names := l.eventNames(media)
	words := word.FindAllString(sequence.Value, -1)
	for _, w := range words {
		if !slices.Contains(names, w) {
			l.add(sequence, "x-event-sequence: there is no event %s", w)
		}
	}
	for _, name := range names {
		if !slices.Contains(words, name) {
			l.add(sequence, "x-event-sequence: event %s never comes", name)
		}
	}
}

func (l *linter) eventNames(media member) []string {
	item := get(media.value, "itemSchema")
	if item == nil {
		l.add(media.key, "event stream without itemSchema")
		return nil
	}
	events := []*yaml.Node{item}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if list := get(l.follow(item), keyword); list != nil {
			events = list.Content
		}
	}
	var names []string
	for _, event := range events {
		event = l.follow(event)
		name := get(event, "x-event-name")
		if name == nil {
			l.add(event, "event without x-event-name")
			continue
		}
		names = append(names, name.Value)
		data := get(get(event, "properties"), "data")
		if get(data, "enum") == nil && get(data, "contentSchema") == nil {
			l.add(event, "event %s: its data has neither contentSchema nor enum", name.Value)
		}
	}
	return names
}
