package memory

import (
	"os"
	"testing"
	"testing/fstest"
)

func TestAvailable(t *testing.T) {
	const meminfo = "MemTotal: 16000000 kB\nMemAvailable:    8000000 kB\nMapped: 600000 kB\nShmem: 100000 kB\n"
	const machine = int64(7500000 << 10)
	files := func(more map[string]string) fstest.MapFS {
		all := fstest.MapFS{"proc/meminfo": {Data: []byte(meminfo)}}
		for name, text := range more {
			all[name] = &fstest.MapFile{Data: []byte(text)}
		}
		return all
	}
	tests := []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"no groups", nil, machine},
		{"a group without a limit", map[string]string{
			"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n", "sys/fs/cgroup/a/memory.current": "1000\n"}, machine},
		{"a group with one", map[string]string{
			"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "1000000\n", "sys/fs/cgroup/a/memory.current": "400000\n"}, 600000},
		{"less what is used, and more what is cached", map[string]string{
			"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "1000000\n", "sys/fs/cgroup/a/memory.current": "400000\n",
			"sys/fs/cgroup/a/memory.stat": "anon 100000\nactive_file 100000\ninactive_file 200000\nfile_mapped 50000\n"}, 850000},
		{"a soft limit", map[string]string{
			"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max", "sys/fs/cgroup/a/memory.high": "500000", "sys/fs/cgroup/a/memory.current": "400000"}, 100000},
		{"a group above", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "300000", "sys/fs/cgroup/a/memory.current": "100000",
			"sys/fs/cgroup/a/b/memory.max": "900000", "sys/fs/cgroup/a/b/memory.current": "0"}, 200000},
		{"its own group is the root", map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "300000", "sys/fs/cgroup/memory.current": "100000"}, 200000},
		{"more used than allowed", map[string]string{
			"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "1000", "sys/fs/cgroup/a/memory.current": "4000"}, 0},
		{"the first version", map[string]string{
			"proc/self/cgroup": "4:cpu,memory:/a\n3:cpuset:/\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes":   "1000000",
			"sys/fs/cgroup/memory/a/memory.usage_in_bytes":   "500000",
			"sys/fs/cgroup/memory/a/memory.stat":             "active_file 1\ntotal_active_file 100000\ntotal_inactive_file 100000\ntotal_mapped_file 50000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":     "9223372036854771712",
			"sys/fs/cgroup/memory/memory.usage_in_bytes":     "5000000",
			"sys/fs/cgroup/cpuset/memory.limit_in_bytes":     "1",
			"sys/fs/cgroup/cpu,memory/memory.usage_in_bytes": "1",
		}, 650000},
		{"a container, whose path is of outside", map[string]string{
			"proc/self/cgroup": "4:memory:/docker/0123\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "1000", "sys/fs/cgroup/memory/memory.usage_in_bytes": "100"}, 900},
		{"both versions", map[string]string{
			"proc/self/cgroup": "4:memory:/\n0::/a\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "1000", "sys/fs/cgroup/memory/memory.usage_in_bytes": "100",
			"sys/fs/cgroup/unified/a/memory.max": "700", "sys/fs/cgroup/unified/a/memory.current": "100"}, 600},
		{"nonsense", map[string]string{"proc/self/cgroup": "what\n::\n0::/../..\n", "sys/fs/cgroup/memory.max": "-5"}, machine},
	}
	for _, tt := range tests {
		got, err := availableIn(files(tt.files))
		if err != nil || got != tt.want {
			t.Errorf("%s: %d, %v; want %d", tt.name, got, err, tt.want)
		}
	}
	if _, err := availableIn(fstest.MapFS{}); err == nil {
		t.Error("no error without any files")
	}
	if _, err := availableIn(fstest.MapFS{"proc/meminfo": {Data: []byte("MemTotal: 5 kB\n")}}); err == nil {
		t.Error("no error where the kernel does not say what is available")
	}
	if got, err := Available(); err != nil || got <= 0 {
		t.Errorf("of this machine: %d, %v", got, err)
	}
}

func TestResident(t *testing.T) {
	page := int64(os.Getpagesize())
	for _, tt := range []struct {
		name, statm string
		want        int64
		known       bool
	}{
		{"a process", "9000 120 80 3 0 500 0\n", 120 * page, true},
		{"short", "9000\n", 0, false},
		{"nonsense", "9000 many 80\n", 0, false},
		{"negative", "9000 -1 80\n", 0, false},
		{"too large", "9000 9223372036854775807 80\n", 0, false},
	} {
		if got, known := residentIn(fstest.MapFS{"proc/42/statm": {Data: []byte(tt.statm)}}, 42); got != tt.want || known != tt.known {
			t.Errorf("%s: %d bytes, %v, want %d, %v", tt.name, got, known, tt.want, tt.known)
		}
	}
	if got, known := residentIn(fstest.MapFS{}, 42); got != 0 || known {
		t.Errorf("no process: %d bytes, %v", got, known)
	}
	if got, known := Resident(os.Getpid()); got < page || !known {
		t.Errorf("this process: %d bytes, %v", got, known)
	}
}
