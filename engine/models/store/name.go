package store

import (
	"path/filepath"
	"strconv"
	"strings"
)

// What a name that leaves parts out means.
const (
	DefaultHost      = "registry.ollama.ai"
	DefaultNamespace = "library"
	DefaultTag       = "latest"
)

// Limits of a name, in bytes. Ollama allows hosts of 350, but no file name
// can be longer than 255.
const (
	maxHost  = 255
	maxPart  = 80
	maxSpace = 255 // of a namespace with several segments
)

// Name is the name of a model. All parts are set in a name that [ParseName]
// made. The namespace may have several segments, with a slash between them,
// where the host is not the default one.
type Name struct{ Host, Namespace, Model, Tag string }

// ParseName reads [[HOST/]NAMESPACE/]MODEL[:TAG]. The error is a *NameError.
func ParseName(s string) (Name, error) {
	if part, reason := refuseText(s); reason != "" {
		return Name{}, &NameError{Name: s, Part: part, Reason: reason}
	}
	n := Name{Host: DefaultHost, Namespace: DefaultNamespace, Model: s, Tag: DefaultTag}
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, '/') {
		n.Model, n.Tag = s[:i], s[i+1:]
	}
	parts := strings.Split(n.Model, "/")
	last := len(parts) - 1
	n.Model = parts[last]
	switch {
	case last == 1:
		n.Namespace = parts[0]
		if strings.ContainsAny(n.Namespace, ".:") && checkHost(n.Namespace) == "" {
			return Name{}, &NameError{Name: s, Part: "host", Reason: "is followed by one part only: name a namespace between the host and the model"}
		}
	case last > 1:
		n.Host, n.Namespace = parts[0], strings.Join(parts[1:last], "/")
	}
	if err := n.check(s); err != nil {
		return Name{}, err
	}
	return n, nil
}

// String is the shortest spelling that ParseName reads as n.
func (n Name) String() string {
	var b strings.Builder
	switch {
	case n.Host != DefaultHost:
		b.WriteString(n.Host + "/" + n.Namespace + "/")
	case n.Namespace != DefaultNamespace:
		b.WriteString(n.Namespace + "/")
	}
	b.WriteString(n.Model)
	if n.Tag != DefaultTag {
		b.WriteString(":" + n.Tag)
	}
	return b.String()
}

// Check says what is wrong with a name that was not made by ParseName; the
// error is a *NameError.
func (n Name) Check() error { return n.check(n.String()) }

// path is where the manifest is, below the folder of manifests. The name must
// have been checked.
func (n Name) path() string {
	return filepath.Join(n.Host, filepath.FromSlash(n.Namespace), n.Model, n.Tag)
}

// nameOf is the inverse of path. ok is false for a path that no name has.
func nameOf(path string) (n Name, ok bool) {
	parts := strings.Split(filepath.ToSlash(path), "/")
	last := len(parts) - 1
	if last < 3 {
		return Name{}, false
	}
	n = Name{Host: parts[0], Namespace: strings.Join(parts[1:last-1], "/"), Model: parts[last-1], Tag: parts[last]}
	return n, n.Check() == nil
}

// NameError says which part of a name is refused, and why.
type NameError struct {
	Name   string // as it was given
	Part   string // "host", "namespace", "model", "tag", or empty: the whole
	Reason string // what follows the part in a sentence
}

// Error is a sentence for users. A long name is cut.
func (e *NameError) Error() string {
	name := e.Name
	if len(name) > 100 {
		name = strings.ToValidUTF8(name[:100], "") + "…"
	}
	if e.Part == "" {
		return "The model name " + strconv.Quote(name) + " " + e.Reason + "."
	}
	return "The " + e.Part + " in the model name " + strconv.Quote(name) + " " + e.Reason + "."
}
