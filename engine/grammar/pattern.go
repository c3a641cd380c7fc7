package grammar

import "errors"

// Pattern is the text that a regular expression finds a match in.
func Pattern(re string) (Node, error) { return nil, errors.New("grammar: not read yet") }
