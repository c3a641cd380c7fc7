//go:build !race

// What is made is counted to the byte here, and the race detector makes more:
// it keeps the compiler from counting runes in place.

package sandbox

import (
	"testing"
)

// TestMemoryOfFilters: those whose cost is nothing make nothing, whatever they
// are given.
func TestMemoryOfFilters(t *testing.T) {
	for name := range filterCosts {
		if len(hostileFilters[name]) > 0 {
			continue
		}
		for _, value := range []string{"dag", "deep", "longest", "wide", "numbers", "1e300"} {
			made, err := renderHostile(t, "{% set x = "+value+"|"+name+" %}")
			if made > 4<<20 || err != nil {
				t.Errorf("%s|%s: %d MB were made, error %v", value, name, made>>20, err)
			}
		}
	}
}
