package terminal

import units "github.com/docker/go-units"

// Size is a number of bytes for a person, in powers of 1000 as the sizes of
// disks are.
func Size(n int64) string {
	return units.CustomSize("%.4g %s", float64(n), 1000, []string{"B", "KB", "MB", "GB", "TB", "PB", "EB"})
}
