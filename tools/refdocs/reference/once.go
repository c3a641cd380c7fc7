package reference

import "github.com/diglot/diglot/openapi"

// listOnce lists the fields of a schema that several replies or events hold at the first
// of them, to which the others refer.
func listOnce(replies []Reply) {
	o := once{first: map[*openapi.Schema]*Field{}, moved: map[string]string{}, listed: map[string]bool{}}
	for _, parts := range []func(func([]*Field)){
		func(do func([]*Field)) {
			for _, r := range replies {
				do(r.Fields)
			}
		},
		func(do func([]*Field)) {
			for _, r := range replies {
				for _, e := range r.Events {
					do(e.Fields)
				}
			}
		},
	} {
		parts(o.fold)
	}
	for _, r := range replies {
		o.refer(r.Fields)
		for _, e := range r.Events {
			o.refer(e.Fields)
		}
	}
}

// once remembers where the fields of schemas are listed.
type once struct {
	first  map[*openapi.Schema]*Field
	moved  map[string]string // from anchors that are gone to those listed in their place
	listed map[string]bool   // anchors
}

// fold removes what is listed already.
func (o *once) fold(fields []*Field) {
	for _, f := range fields {
		o.listed[f.Anchor] = true
		s := named(f.Schema)
		if s == nil || len(f.Fields) == 0 {
			o.fold(f.Fields)
			continue
		}
		first, ok := o.first[s]
		if !ok || first.Part == f.Part {
			o.first[s] = f
			o.fold(f.Fields)
			continue
		}
		o.move(f, first, f.Fields)
		f.See, f.SeeAt, f.Fields = first.Field, first.Anchor, nil
	}
}

// move notes where the fields below gone are listed instead.
func (o *once) move(gone, first *Field, fields []*Field) {
	for _, f := range fields {
		at := Anchor(first.Part, first.Field+f.Field[len(gone.Field):])
		if !o.listed[at] {
			at = first.Anchor
		}
		o.moved[f.Anchor] = at
		o.move(gone, first, f.Fields)
	}
}

// refer leads references to what is gone to where it is listed.
func (o *once) refer(fields []*Field) {
	for _, f := range fields {
		if at, ok := o.moved[f.SeeAt]; ok {
			f.SeeAt = at
		}
		o.refer(f.Fields)
	}
}

// named is the component that a field holds, alone or as a list; or nil.
func named(s *openapi.Schema) *openapi.Schema {
	if s != nil && s.Items != nil {
		s = s.Items.Schema
	}
	if s == nil || s.Name == "" {
		return nil
	}
	return s
}
