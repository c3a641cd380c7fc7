package store

import (
	"path/filepath"
	"strconv"
	"strings"
)

// The defaults for omitted parts of a name.
const (
	DefaultHost      = "registry.ollama.ai"
	DefaultNamespace = "library"
	DefaultTag       = "latest"
)

// Limits of a name, in bytes. Ollama allows hosts of 350, but a file name has
// at most 255.
const (
	maxHost  = 255
	maxPart  = 80
	maxSpace = 255 // whole namespace
)

// Name is the name of a model. [ParseName] sets all parts. With a host other
// than the default one, the namespace may have several segments: a/b.
type Name struct{ Host, Namespace, Model, Tag string }

// ParseName reads [[HOST/]NAMESPACE/]MODEL[:TAG]. The error is a *NameError.
func ParseName(s string) (Name, error) {
	if part, reason := checkWhole(s); reason != "" {
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
			return Name{}, &NameError{Name: s, Part: "host", Reason: "is followed by only one part: add a namespace, as in HOST/NAMESPACE/MODEL"}
		}
	case last > 1:
		n.Host, n.Namespace = parts[0], strings.Join(parts[1:last], "/")
	}
	if err := n.check(s); err != nil {
		return Name{}, err
	}
	return n, nil
}

// Shortest is the shortest form of a name. Text that is no name stays as it is.
func Shortest(s string) string {
	n, err := ParseName(s)
	if err != nil {
		return s
	}
	return n.String()
}

// String is the shortest form that ParseName reads as n.
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

// Check validates a name that ParseName did not make. The error is a
// *NameError.
func (n Name) Check() error { return n.check(n.String()) }

// path is the path of the manifest, relative to manifests. The name must be
// checked.
func (n Name) path() string {
	return filepath.Join(n.Host, filepath.FromSlash(n.Namespace), n.Model, n.Tag)
}

// nameOf is the inverse of path. ok is false if no name has this path.
func nameOf(path string) (n Name, ok bool) {
	parts := strings.Split(filepath.ToSlash(path), "/")
	last := len(parts) - 1
	if last < 3 {
		return Name{}, false
	}
	n = Name{Host: parts[0], Namespace: strings.Join(parts[1:last-1], "/"), Model: parts[last-1], Tag: parts[last]}
	return n, n.Check() == nil
}

// NameError is an invalid name.
type NameError struct {
	Name   string // as given
	Part   string // "host", "namespace", "model" or "tag"; empty: the whole name
	Reason string // the rest of a sentence that starts with the part
}

// Error is a sentence for users. A long name is truncated.
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
