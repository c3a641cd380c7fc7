package terminal

import units "github.com/docker/go-units"

// Size formats a number of bytes in powers of 1000, like disk sizes.
func Size(n int64) string {
	return units.CustomSize("%.4g %s", float64(n), 1000, []string{"B", "KB", "MB", "GB", "TB", "PB", "EB"})
}
