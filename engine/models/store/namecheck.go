package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// checkWhole finds mistakes for which the check of single parts would give a
// less helpful reason.
func checkWhole(s string) (part, reason string) {
	switch {
	case s == "":
		return "", "is empty"
	case !utf8.ValidString(s):
		return "", "is not valid UTF-8"
	case strings.Contains(s, "://"):
		return "", "begins with a scheme: remove everything up to \"://\""
	case strings.Contains(s, "@"):
		return "", "contains a digest or a user: use a tag, as in MODEL:TAG"
	case strings.HasPrefix(s, "/"):
		return "", "begins with a slash: give a name, not a path"
	case len(s) > maxHost+maxSpace+2*maxPart+3:
		return "", "is too long"
	}
	return "", ""
}

// check validates every part. text is the name as the user wrote it.
func (n Name) check(text string) error {
	fail := func(part, reason string) error {
		return &NameError{Name: text, Part: part, Reason: reason}
	}
	if reason := checkHost(n.Host); reason != "" {
		return fail("host", reason)
	}
	segments := strings.Split(n.Namespace, "/")
	if len(segments) > 1 && n.Host == DefaultHost {
		return fail("namespace", "has a slash, but names of "+DefaultHost+" have a single namespace")
	}
	if len(n.Namespace) > maxSpace {
		return fail("namespace", fmt.Sprintf("has %d characters, more than %d", len(n.Namespace), maxSpace))
	}
	for _, segment := range segments {
		if reason := checkPart(segment); reason != "" {
			return fail("namespace", reason)
		}
		// Otherwise a.b in a.b/c could be a host or a namespace.
		if n.Host == DefaultHost && strings.Contains(segment, ".") {
			return fail("namespace", "has a dot")
		}
	}
	if reason := checkPart(n.Model); reason != "" {
		return fail("model", reason)
	}
	if reason := checkPart(n.Tag); reason != "" {
		return fail("tag", reason)
	}
	return nil
}

// checkHost accepts HOST or HOST:PORT.
func checkHost(s string) string {
	if len(s) > maxHost {
		return fmt.Sprintf("has %d characters, more than %d", len(s), maxHost)
	}
	host, port, found := strings.Cut(s, ":")
	if found {
		if p, err := strconv.ParseUint(port, 10, 16); err != nil || p == 0 || strconv.FormatUint(p, 10) != port {
			return "has a port that is not a number from 1 to 65535"
		}
	}
	return checkText(host)
}

func checkPart(s string) string {
	if len(s) > maxPart {
		return fmt.Sprintf("has %d characters, more than %d", len(s), maxPart)
	}
	return checkText(s)
}

// checkText accepts only names that every file system keeps unchanged.
func checkText(s string) string {
	switch {
	case s == "":
		return "is empty"
	case s == "." || s == "..":
		return "is " + strconv.Quote(s) + ", which is a path"
	}
	for _, r := range s {
		if !isLetterOrDigit(r) && r != '_' && r != '-' && r != '.' {
			return runeReason(r)
		}
	}
	if s[0] == '.' || s[0] == '-' {
		return "begins with " + strconv.Quote(s[:1])
	}
	if strings.HasSuffix(s, ".") {
		return "ends with a dot, which Windows would drop"
	}
	if base, _, _ := strings.Cut(s, "."); isDevice(base) {
		return "is " + strconv.Quote(base) + ", which names a device on Windows"
	}
	return ""
}

func isLetterOrDigit(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func runeReason(r rune) string {
	switch {
	case r == '\\':
		return "has a backslash"
	case r == ' ':
		return "has a space"
	case r < ' ' || r == 0x7f:
		return fmt.Sprintf("has the control character %U", r)
	}
	return fmt.Sprintf("has %q; only the letters a to z and A to Z, digits, and _ - . are allowed", r)
}

// isDevice reports whether s is a device name on Windows, which it is with any
// extension.
func isDevice(s string) bool {
	s = strings.ToLower(s)
	if slices.Contains([]string{"con", "prn", "aux", "nul"}, s) {
		return true
	}
	return len(s) == 4 && (s[:3] == "com" || s[:3] == "lpt") && s[3] >= '1' && s[3] <= '9'
}
