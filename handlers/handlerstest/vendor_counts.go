package handlerstest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// vendorCounts counts what was checked against the vendors' schemas.
type vendorCounts struct {
	Seen map[string]int `json:"seen"` // values, by the String of their place
	Used map[string]int `json:"used"` // exceptions, by their String
}

func newVendorCounts() vendorCounts {
	return vendorCounts{Seen: map[string]int{}, Used: map[string]int{}}
}

// write writes the counts to a file of its own.
func (c *vendorCounts) write(folder string) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, "*.json")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// readCounts sums the counts of all test binaries.
func readCounts(folder string) (vendorCounts, error) {
	total := newVendorCounts()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return total, err
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return total, err
		}
		var c vendorCounts
		if err := json.Unmarshal(text, &c); err != nil {
			return total, fmt.Errorf("%s: %w", name, err)
		}
		for name, n := range c.Seen {
			total.Seen[name] += n
		}
		for name, n := range c.Used {
			total.Used[name] += n
		}
	}
	return total, nil
}
