//go:build !linux

package confine

// Enter does nothing: only Linux is supported.
func Enter(Needs) Held { return Supported() }

// Supported returns what [Enter] can enforce on this machine.
func Supported() Held { return Held{Without: "only on Linux"} }
