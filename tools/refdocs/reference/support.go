package reference

import "github.com/diglot/diglot/openapi"

// Support says what the server does with a field in each profile.
type Support struct {
	Listing  openapi.Listing // what the interface document of the service says
	Default  string          // implemented, partial, ignored, refused
	Document string          // the same of --profile document; withheld for what is left out of replies
	Note     string
	Instead  string // JSON: sent in place of what is withheld; or empty
}

// Plain reports whether there is nothing to say.
func (s Support) Plain() bool {
	return s.Default == string(openapi.SupportImplemented) && s.Document == s.Default && s.Note == ""
}

// Same reports whether both profiles do the same.
func (s Support) Same() bool { return s.Default == s.Document }

func supportOf(m openapi.Mark, reply bool) Support {
	s := Support{
		Listing: m.Document, Default: string(m.Server), Document: string(m.Narrow(openapi.ProfileDocument).Server),
		Note: m.Note, Instead: string(m.Instead),
	}
	if reply && s.Document != s.Default {
		s.Document = "withheld"
	}
	return s
}

// Tally counts the fields of requests by what the server does with them.
type Tally struct {
	Implemented, Partial, Ignored, Refused int
	Narrowed                               int // of those, refused by --profile document alone
}

func tallyOf(fields []*Field) Tally {
	var t Tally
	for _, f := range fields {
		switch openapi.Support(f.Support.Default) {
		case openapi.SupportImplemented:
			t.Implemented++
		case openapi.SupportPartial:
			t.Partial++
		case openapi.SupportIgnored:
			t.Ignored++
		case openapi.SupportRefused:
			t.Refused++
		}
		if !f.Support.Same() {
			t.Narrowed++
		}
		inner := tallyOf(f.Fields)
		t.Implemented, t.Partial, t.Ignored, t.Refused = t.Implemented+inner.Implemented, t.Partial+inner.Partial, t.Ignored+inner.Ignored, t.Refused+inner.Refused
		t.Narrowed += inner.Narrowed
	}
	return t
}
