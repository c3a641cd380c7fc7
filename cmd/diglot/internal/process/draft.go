package process

import "errors"

// Draft is the flag that says whether further tokens are guessed. Guesses are checked
// together, and change no text.
type Draft struct{ None bool }

func (d *Draft) String() string {
	if d.None {
		return "none"
	}
	return "auto"
}

func (d *Draft) Type() string { return "name" }

func (d *Draft) Set(value string) error {
	switch value {
	case "auto", "none":
		d.None = value == "none"
		return nil
	}
	return errors.New("want auto or none")
}

// args formats the flag, unless it is the default.
func (d Draft) args() []string {
	if !d.None {
		return nil
	}
	return []string{"--draft", d.String()}
}
