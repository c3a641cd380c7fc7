//go:build !linux

package confine

// Enter does nothing here: it is made for Linux.
func Enter(Needs) Held { return Held{Without: "it is for Linux alone"} }

// Supported is what [Enter] would hold on this machine.
func Supported() Held { return Held{Without: "it is for Linux alone"} }
