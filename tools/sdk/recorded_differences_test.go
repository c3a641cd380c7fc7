package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// difference is one way in which replies differ on purpose from the types of
// SDKs. Undone, a value fits the type.
type difference struct {
	Style, Route, Part string
	At                 string // JSON pointer; a star is any index
	In                 string // only where what holds the field has this type: text
	Rule               string // extra, missing, or kind (the value is of another kind, such as null)
	With               any    // for missing and kind: a value that fits
	SDKs               []string
	Reason             string
}

func (d difference) String() string {
	at := d.At
	if d.In != "" {
		at += " in " + d.In
	}
	return strings.Join([]string{place{d.Style, d.Route, d.Part}.String(), at, d.Rule}, ", ")
}

// undo makes a value fit in this point and reports whether it did not before.
func (d difference) undo(value any) bool {
	changed := false
	edit(value, tokens(d.At), func(holder any, name string) {
		found, there := member(holder, name)
		object, isObject := holder.(map[string]any)
		switch {
		case d.In != "" && (!isObject || object["type"] != d.In):
		case d.Rule == "extra" && there:
			delete(object, name)
			changed = true
		case d.Rule == "missing" && isObject && !there,
			d.Rule == "kind" && there && reflect.TypeOf(found) != reflect.TypeOf(d.With):
			setMember(holder, name, d.With)
			changed = true
		}
	})
	return changed
}

// readDifferences reads the list.
func readDifferences(t *testing.T) []difference {
	t.Helper()
	var all []difference
	readYAML(t, "differences.yaml", &all)
	for i, d := range all {
		switch {
		case len(strings.Fields(d.Reason)) < 3:
			t.Errorf("%v has no reason", d)
		case !slices.Contains([]string{"extra", "missing", "kind"}, d.Rule):
			t.Errorf("%v: no such rule", d)
		case len(d.SDKs) == 0 || !strings.HasPrefix(d.At, "/"):
			t.Errorf("%v names no SDK or no place", d)
		case slices.ContainsFunc(all[:i], func(e difference) bool { return e.String() == d.String() }):
			t.Errorf("%v is there twice", d)
		}
	}
	return all
}

// undoAll makes a copy of a reply that fits an SDK in all points of the list
// but one, and returns the points in which it did not fit.
func undoAll(t *testing.T, r reply, sdk string, list []difference, but int) (value any, undone []int) {
	t.Helper()
	value = unmarshal(t, marshal(t, r.value))
	for i, d := range list {
		if i != but && slices.Contains(d.SDKs, sdk) && (place{d.Style, d.Route, d.Part}).covers(r.place) && d.undo(value) {
			undone = append(undone, i)
		}
	}
	return value, undone
}
