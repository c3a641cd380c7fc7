package flagvalue

import (
	"testing"
	"time"
)

func TestKeepAliveFlag(t *testing.T) {
	for _, tt := range []struct {
		text string
		want time.Duration // 0: refused
	}{
		{"30m", 30 * time.Minute}, {"1h30m", 90 * time.Minute}, {"forever", -1}, {"0", 1}, {"0s", 1}, {"-1", 0}, {"-5m", 0}, {"5", 0}, {"", 0},
	} {
		var k KeepAlive
		if err := k.Set(tt.text); (err == nil) != (tt.want != 0) || time.Duration(k) != tt.want {
			t.Errorf("%q: %v, error %v; want %v", tt.text, time.Duration(k), err, tt.want)
		}
	}
}

func TestMemoryFlag(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int64 // 0: refused
	}{
		{"12GB", 12e9}, {"12g", 12e9}, {"1.5 GB", 1.5e9}, {"2GiB", 2 << 30}, {"900MiB", 900 << 20}, {"12345678", 12345678}, {"1MiB", 1 << 20}, {"1", 0}, {"1000k", 0}, {"0", 0}, {"-1GB", 0}, {"GB", 0}, {"", 0},
	} {
		var m Memory
		if err := m.Set(tt.text); (err == nil) != (tt.want != 0) || int64(m) != tt.want {
			t.Errorf("%q: %d, error %v; want %d", tt.text, m, err, tt.want)
		}
	}
}
