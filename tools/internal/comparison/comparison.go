// Package comparison compares two OpenAPI documents, ours and a vendor's: what a
// vendor's clients may send that ours does not take, and what ours sends that they do
// not expect.
//
// Forms are paired by operation, part and field, unions by their discriminator. What a
// support mark of our field (x-support) or an entry in reasons.yaml explains is
// separated from what nothing explains.
package comparison

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi"
)

// Kinds of differences.
const (
	Lacks    = "lacks"    // only the vendor has it
	Type     = "type"     // one side sends a type that the other does not accept
	Values   = "values"   // the same for a value
	Required = "required" // only we require it
	Optional = "optional" // we may omit what the vendor always sends
	Gone     = "gone"     // only we have it, and no mark says that it is an extension
)

// Difference is a difference between our document and the vendor's.
type Difference struct {
	Operation, Part, Field string
	Kind                   string
	Vendor, Ours           string // what each side has
	Mark                   string // support of our field, as text
	Reason                 string
}

// Compared is the result for one style.
type Compared struct {
	Title      string
	Vendor     string // title and version of the document
	Operations []Operation
}

// Operation is the result for one operation.
type Operation struct {
	Name        string
	Refused     string // why we do not serve it; empty: we do
	Fields      int    // fields that both sides have
	Differences []Difference
	Listed      []string // parts and fields that the vendor has and our marks call unlisted
}

// Links complete a vendor's document where it does not say what a component is for.
type Links struct {
	Events  map[string]string `yaml:"events"`  // component of a stream's data, by operation
	Failure string            `yaml:"failure"` // component of errors
}

// EveryOperation is the name under which errors are compared.
const EveryOperation = "every operation"

// Compare compares each of our operations, and the errors once for all.
func Compare(ours, vendor *Document, links Links) (Compared, error) {
	result := Compared{Vendor: strings.TrimSpace(vendor.title + " " + vendor.version)}
	failures := newComparer(ours, vendor, EveryOperation)
	for _, o := range ours.operations {
		if mark := readMark(o.mark); idle(mark) {
			result.Operations = append(result.Operations, Operation{Name: o.name, Refused: mark.Note})
			continue
		}
		forms := vendor.find(o.name)
		if len(forms) == 0 {
			return result, fmt.Errorf("the vendor's document has no %s", o.name)
		}
		result.Operations = append(result.Operations, compareForms(ours, vendor, o, forms, links)...)
		if failure := forms[0].failure; o.failure != nil && failure != nil {
			failures.part("error", false, failure, o.failure)
		} else if o.failure != nil && links.Failure != "" {
			failures.part("error", false, one(component(links.Failure)), o.failure)
		}
	}
	result.Operations = append(result.Operations,
		Operation{Name: EveryOperation, Fields: failures.fields, Differences: failures.found})
	return result, nil
}

// compareForms compares an operation with each form in which the vendor has it. What
// several forms share is in the first.
func compareForms(ours, vendor *Document, o operation, forms []operation, links Links) []Operation {
	var all []*comparer
	for _, v := range forms {
		name := o.name
		if _, query, ok := strings.Cut(v.name, "?"); ok {
			name += "?" + query
		}
		c := newComparer(ours, vendor, name)
		c.compare(v, o, links.Events[name])
		all = append(all, c)
	}
	keepGone(all)
	var results []Operation
	var known []Difference
	var listed []string
	for _, c := range all {
		c.listed = slices.DeleteFunc(c.listed, func(field string) bool { return slices.Contains(listed, field) })
		listed = append(listed, c.listed...)
		found := slices.DeleteFunc(c.found, func(d Difference) bool { return slices.ContainsFunc(known, d.same) })
		known = append(known, found...)
		results = append(results, Operation{Name: c.operation, Fields: c.fields, Differences: found, Listed: c.listed})
	}
	return results
}

// same records that a difference is also in another form of an operation.
func (d Difference) same(e Difference) bool {
	return d.Part == e.Part && d.Field == e.Field && d.Kind == e.Kind
}

// comparer compares the parts of one operation.
type comparer struct {
	ours, vendor    *Document
	operation, name string
	request         bool // this part is sent by the client
	seen            map[seen]bool
	fields          int
	found           []Difference
	listed          []string
	met             map[string]bool // parts and fields that both sides have
}

func newComparer(ours, vendor *Document, operation string) *comparer {
	return &comparer{ours: ours, vendor: vendor, operation: operation, seen: map[seen]bool{}, met: map[string]bool{}}
}

// seen is a pair of forms in a direction, which is compared only once.
type seen struct {
	vendor, ours string
	request      bool
}

// compare compares a whole operation. The type of its events may come from [Links].
func (c *comparer) compare(vendor, ours operation, events string) {
	if events != "" {
		vendor.events = one(component(events))
	}
	c.parameters(vendor.parameters, ours.parameters)
	c.part("body", true, vendor.body, ours.body)
	c.part("reply", false, vendor.reply, ours.reply)
	c.part("event", false, vendor.events, ours.events)
}

func (c *comparer) add(field, kind, vendor, ours string, mark openapi.Mark) {
	d := Difference{Operation: c.operation, Part: c.name, Field: field, Kind: kind, Vendor: vendor, Ours: ours}
	if mark.Note != "" {
		d.Mark = fmt.Sprintf("%s: %s", mark.Server, mark.Note)
	}
	c.found = append(c.found, d)
}

func (c *comparer) parameters(vendor, ours []parameter) {
	c.request = true
	for _, v := range vendor {
		if v.in == "path" {
			continue // with any names
		}
		c.name = v.in
		i := slices.IndexFunc(ours, func(o parameter) bool { return o.in == v.in && strings.EqualFold(o.name, v.name) })
		if i < 0 {
			c.add(v.name, Lacks, c.vendor.union(one(v.schema)).text(), "", openapi.Mark{})
			continue
		}
		c.fields++
		c.schemas(v.name, one(v.schema), one(ours[i].schema), readMark(ours[i].mark))
		if ours[i].required && !v.required {
			c.add(v.name, Required, "optional", "required", openapi.Mark{})
		}
	}
}

func (c *comparer) part(name string, request bool, vendor, ours []object) {
	if vendor == nil {
		return
	}
	c.name, c.request = name, request
	if ours == nil {
		c.add("", Lacks, c.vendor.union(vendor).text(), "", openapi.Mark{})
		return
	}
	c.schemas("", vendor, ours, openapi.Mark{})
}

// schemas compares what two unions accept.
func (c *comparer) schemas(field string, vendor, ours []object, mark openapi.Mark) {
	v, o := c.vendor.union(vendor), c.ours.union(ours)
	c.kinds(field, v, o, mark)
	c.goneValues(field, v, ours)
	if v.any || o.any || idle(mark) {
		return
	}
	if v.items != nil && o.items != nil {
		c.schemas(field+"[]", v.items, o.items, markOf(c.ours, o.items))
	}
	if len(v.objects) > 0 && len(o.objects) > 0 {
		c.objects(field, v.objects, o.objects, mark)
	}
}

// idle returns the mark of a field whose content has no effect.
func idle(m openapi.Mark) bool {
	return m.Server == openapi.SupportIgnored || m.Server == openapi.SupportRefused
}

func readMark(value any) openapi.Mark {
	mark, err := openapi.ParseMark(value)
	if err != nil {
		return openapi.Mark{} // speclint says so
	}
	return mark
}

func markOf(d *Document, schemas []object) openapi.Mark {
	for _, s := range schemas {
		if s[markName] != nil {
			return readMark(s[markName])
		}
		if value := d.resolve(s)[markName]; value != nil {
			return readMark(value)
		}
	}
	return openapi.Mark{}
}

// objects compares the objects of two unions, paired by their discriminator.
func (c *comparer) objects(field string, vendor, ours []form, mark openapi.Mark) {
	tag := c.tag(vendor, ours)
	if tag == "" {
		c.form(field, merge(vendor), merge(ours), mark, "")
		return
	}
	if !c.first(merge(vendor), merge(ours)) {
		return
	}
	tagged, untagged := byTag(c.vendor, vendor, tag)
	own, others := byTag(c.ours, ours, tag)
	for _, value := range slices.Sorted(maps.Keys(tagged)) {
		name := field
		if len(tagged) > 1 || len(untagged) > 0 {
			name = fmt.Sprintf("%s[%s=%s]", strings.TrimSuffix(field, "[]"), tag, value)
		}
		switch {
		case own[value] != nil:
			f := merge(own[value])
			c.form(name, merge(tagged[value]), f, readMark(f.mark), tag)
		case len(others) > 0 && c.request: // ours is for every other value
			c.add(name, Lacks, "object", "", readMark(merge(others).mark))
		default:
			c.add(name, Lacks, "object", "", markOf(c.ours, merge(ours).properties[tag]))
		}
	}
	if len(untagged) == 0 {
		c.goneMembers(field, tag, tagged, own)
	} else {
		if len(others) == 0 {
			others = ours
		}
		c.form(field, merge(untagged), merge(others), mark, "")
	}
}

// tag returns the field that discriminates the objects on both sides; empty if that
// is not needed or not possible.
func (c *comparer) tag(vendor, ours []form) string {
	if len(vendor) == 1 && len(ours) == 1 {
		return ""
	}
	names := []string{"type", "role", "object"}
	for _, f := range slices.Concat(vendor, ours) {
		if f.tag != "" {
			names = slices.Insert(names, 0, f.tag)
		}
	}
	for _, name := range names {
		theirs, _ := byTag(c.vendor, vendor, name)
		own, _ := byTag(c.ours, ours, name)
		if len(theirs) > 0 && len(own) > 0 {
			return name
		}
	}
	return ""
}

// byTag groups forms by the values of the discriminator.
func byTag(d *Document, forms []form, tag string) (tagged map[string][]form, others []form) {
	tagged = map[string][]form{}
	for _, f := range forms {
		closed := values(nil)
		if p, ok := f.properties[tag]; ok {
			if s := d.union(p); !s.any {
				closed = s.kinds["string"]
			}
		}
		if closed == nil {
			others = append(others, f)
		}
		for text := range closed {
			value := strings.Trim(text, `"`)
			tagged[value] = append(tagged[value], f)
		}
	}
	return tagged, others
}

// first reports whether two forms have not been compared yet.
func (c *comparer) first(vendor, ours form) bool {
	pair := seen{vendor.id, ours.id, c.request}
	known := c.seen[pair]
	c.seen[pair] = true
	return !known
}

// form compares the fields of two objects, except the discriminator.
func (c *comparer) form(field string, vendor, ours form, mark openapi.Mark, tag string) {
	if idle(mark) || ours.free && c.request || !c.first(vendor, ours) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(vendor.properties)) {
		if name != tag {
			c.member(strings.TrimPrefix(field+"."+name, "."), name, vendor, ours)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ours.required)) {
		if _, ok := vendor.properties[name]; c.request && !ok && !vendor.free {
			c.add(strings.TrimPrefix(field+"."+name, "."), Required, "", "required", openapi.Mark{})
		}
	}
	c.gone(field, vendor, ours, tag)
	if vendor.additional != nil && ours.additional != nil {
		c.schemas(field+".*", vendor.additional, ours.additional, markOf(c.ours, ours.additional))
	}
}

func (c *comparer) member(field, name string, vendor, ours form) {
	theirs := vendor.properties[name]
	own, ok := ours.properties[name]
	if !ok && ours.additional != nil {
		own, ok = ours.additional, true
	}
	mark := openapi.Mark{}
	if ok {
		mark = markOf(c.ours, own)
	}
	if !ok || !c.request && mark.Server == openapi.SupportRefused { // refused: never sent
		if !ours.free {
			c.add(field, Lacks, c.vendor.union(theirs).text(), "", mark)
		}
		return
	}
	c.fields++
	c.meet(field, mark)
	c.schemas(field, theirs, own, mark)
	switch {
	case c.request && ours.required[name] && !vendor.required[name]:
		c.add(field, Required, "optional", "required", mark)
	case !c.request && vendor.required[name] && !ours.required[name]:
		c.add(field, Optional, "required", "optional", mark)
	}
}
