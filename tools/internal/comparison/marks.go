package comparison

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi"
)

// meet remembers a field that both have, and whether our mark calls it unlisted: the
// interface document that marks speak of is not the vendor's newest.
func (c *comparer) meet(field string, mark openapi.Mark) {
	c.met[c.name+" "+field] = true
	if mark.Document == openapi.ListingUnlisted {
		c.listed = append(c.listed, c.name+" "+field)
	}
}

// missed finds what only we have, unless the mark says that it is an extension. One that
// ignores or refuses what no client sends is of no use.
func (c *comparer) missed(field string, mark openapi.Mark) {
	if mark.Document != openapi.ListingExtension || idle(mark) {
		c.add(field, Gone, "", "", openapi.Mark{})
	}
}

// keepGone drops from each form of an operation what is gone there alone, and keeps at
// the first what is gone from all.
func keepGone(forms []*comparer) {
	known := map[string]bool{}
	for _, c := range forms {
		maps.Copy(known, c.met)
	}
	for _, c := range forms {
		c.found = slices.DeleteFunc(c.found, func(d Difference) bool { return d.Kind == Gone && known[d.Part+" "+d.Field] })
	}
}

// gone finds our fields that the vendor's form does not have.
func (c *comparer) gone(field string, vendor, ours form, tag string) {
	if vendor.free || vendor.additional != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(ours.properties)) {
		if _, ok := vendor.properties[name]; !ok && name != tag {
			c.missed(strings.TrimPrefix(field+"."+name, "."), markOf(c.ours, ours.properties[name]))
		}
	}
}

// goneMembers finds our members of a union that the vendor's does not have.
func (c *comparer) goneMembers(field, tag string, vendor, ours map[string][]form) {
	for _, value := range slices.Sorted(maps.Keys(ours)) {
		name := fmt.Sprintf("%s[%s=%s]", strings.TrimSuffix(field, "[]"), tag, value)
		if vendor[value] == nil {
			c.missed(name, readMark(merge(ours[value]).mark))
			continue
		}
		c.met[c.name+" "+name] = true
	}
}

// goneValues finds our values of a request, those that marks refuse too, that the
// vendor does not take any more.
func (c *comparer) goneValues(field string, vendor shape, ours []object) {
	taken, closed := vendor.kinds["string"], !vendor.any
	if !c.request || !closed || taken == nil {
		return
	}
	whole := *c.ours
	whole.listing = true
	for _, value := range slices.Sorted(maps.Keys(whole.union(ours).kinds["string"])) {
		name := field + "=" + value
		if taken[value] {
			c.met[c.name+" "+name] = true
			continue
		}
		c.add(name, Gone, "", "", openapi.Mark{})
	}
}
