package script

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Package yaml converts scalars silently and names Go types in its errors, so a
// script is read node by node.

// fields maps the keys of a mapping to their readers.
type fields map[string]func(*yaml.Node) error

// at returns an error with the line of n.
func at(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %s", max(n.Line, 1), fmt.Sprintf(format, args...))
}

// resolve follows an alias. A script has a fixed depth, so that an alias within
// its own anchor cannot loop.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// pairs calls f for each pair of the mapping n, in order.
func pairs(n *yaml.Node, f func(key, value *yaml.Node) error) error {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		return at(n, "expected a mapping")
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key := resolve(n.Content[i])
		if key.Kind != yaml.ScalarNode {
			return at(n.Content[i], "a key must be a string")
		}
		if seen[key.Value] {
			return at(key, "duplicate key %q", key.Value)
		}
		seen[key.Value] = true
		if err := f(key, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// mapping reads a mapping that may have the given keys and no others.
func mapping(n *yaml.Node, known fields) error {
	return pairs(n, func(key, value *yaml.Node) error {
		read, ok := known[key.Value]
		if !ok {
			return at(key, "unknown key %q", key.Value)
		}
		return read(value)
	})
}

// sequence reads each element of a list.
func sequence(read func(*yaml.Node) error) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		n = resolve(n)
		if n.Kind != yaml.SequenceNode {
			return at(n, "expected a list")
		}
		for _, element := range n.Content {
			if err := read(element); err != nil {
				return err
			}
		}
		return nil
	}
}

func text(to *string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		n = resolve(n)
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
			return at(n, "expected a string; quote it where YAML reads it otherwise")
		}
		*to = n.Value
		return nil
	}
}

func oneOf(to *string, allowed ...string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if err := text(to)(n); err != nil {
			return err
		}
		if !slices.Contains(allowed, *to) {
			return at(n, "%q is none of %s", *to, strings.Join(allowed, ", "))
		}
		return nil
	}
}

func boolean(to *bool) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		n = resolve(n)
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Decode(to) != nil {
			return at(n, "expected true or false")
		}
		return nil
	}
}

// count reads a number of tokens, not below least.
func count(to *int, least int) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		n = resolve(n)
		number, err := strconv.Atoi(n.Value)
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil || number < least || number > maxCount {
			return at(n, "expected a whole number from %d to %d", least, maxCount)
		}
		*to = number
		return nil
	}
}

func binary(to *[]byte) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		var s string
		if err := text(&s)(n); err != nil {
			return err
		}
		decoded, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return at(n, "%q is not base64", s)
		}
		*to = decoded
		return nil
	}
}
