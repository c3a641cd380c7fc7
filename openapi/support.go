package openapi

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
)

// Listing says what the service's own interface document says of a field.
type Listing string

// The closed list of listings.
const (
	ListingSupported   Listing = "supported"
	ListingUnsupported Listing = "unsupported"
	ListingUnlisted    Listing = "unlisted"
	ListingExtension   Listing = "extension" // unlisted, and in no document of the vendor at all
)

// Support says what the server does with a field.
type Support string

// The closed list of kinds of support.
const (
	SupportImplemented Support = "implemented" // works as described
	SupportPartial     Support = "partial"     // works if the value also fits Mark.Only
	SupportIgnored     Support = "ignored"     // accepted without effect, and reported
	SupportRefused     Support = "refused"     // a violation, unless null
)

// Mark is the support mark (x-support) of a property, union member, parameter or operation:
// two separate facts, and a note for people. Without one a field is supported and
// implemented.
type Mark struct {
	Document Listing        `json:"document"`
	Server   Support        `json:"server"`
	Only     jsontext.Value `json:"only"`   // a schema, for Partial
	Note     string         `json:"note"`   // one sentence; printed in errors, matrix and docs
	Detail   string         `json:"detail"` // a machine-readable reason, for clients that know it

	// Instead replaces an unsupported value in replies of [ProfileDocument].
	// Without it the value is removed, or null where it is required.
	Instead jsontext.Value `json:"instead"`
}

const (
	markExtension = "x-support"
	// valuesExtension holds the marks of enum values, by value.
	valuesExtension = "x-support-values"
)

func readMark(extensions map[string]any) (Mark, error) {
	return ParseMark(extensions[markExtension])
}

// ParseMark reads a decoded x-support. What it leaves out, or a nil mark, means supported
// and implemented.
func ParseMark(value any) (Mark, error) {
	m := Mark{Document: ListingSupported, Server: SupportImplemented}
	if value == nil {
		return m, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return m, fmt.Errorf("%s: %w", markExtension, err)
	}
	if err := json.Unmarshal(text, &m, json.RejectUnknownMembers(true)); err != nil {
		return m, fmt.Errorf("%s: %w", markExtension, err)
	}
	return m, m.check()
}

func (m Mark) check() error {
	switch m.Document {
	case ListingSupported, ListingUnsupported, ListingUnlisted, ListingExtension:
	default:
		return fmt.Errorf("%s: document is %q, not supported, unsupported, unlisted or extension", markExtension, m.Document)
	}
	switch m.Server {
	case SupportImplemented, SupportPartial, SupportIgnored, SupportRefused:
	default:
		return fmt.Errorf("%s: server is %q, not implemented, partial, ignored or refused", markExtension, m.Server)
	}
	if (m.Server == SupportPartial) != (m.Only != nil) {
		return fmt.Errorf("%s: only belongs to partial, and partial needs it", markExtension)
	}
	if m.Instead != nil && m.Document != ListingUnsupported {
		return fmt.Errorf("%s: instead belongs to what is unsupported", markExtension)
	}
	if m.Server != SupportImplemented && m.Note == "" {
		return fmt.Errorf("%s: what is %s needs a note", markExtension, m.Server)
	}
	return nil
}

// Profile says how far the marks narrow a document.
type Profile string

// The closed list of profiles.
const (
	// ProfileDefault serves what the marks say that the server does.
	ProfileDefault Profile = "default"
	// ProfileDocument also refuses what the service's interface document calls unsupported,
	// unless it is ignored, which is harmless.
	ProfileDocument Profile = "document"
)

// Narrow returns the mark that is in force under p.
func (m Mark) Narrow(p Profile) Mark {
	if p == ProfileDocument && m.Document == ListingUnsupported && m.Server != SupportIgnored && m.Server != SupportRefused {
		m.Server, m.Only, m.Note = SupportRefused, nil, "The interface document calls it unsupported."
	}
	return m
}

// Plain reports whether the mark says no more than no mark would.
func (m Mark) Plain() bool {
	return m.Document == ListingSupported && m.Server == SupportImplemented && m.Note == ""
}
