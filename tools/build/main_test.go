package main

import (
	"runtime"
	"testing"

	"github.com/diglot/diglot/tools/internal/toolchain"
)

func TestTarget(t *testing.T) {
	own, other := runtime.GOARCH, "amd64"
	if own == other {
		other = "arm64"
	}
	for _, tt := range []struct{ name, arch, cpu, wantArch, wantCPU string }{
		{"this machine", "", "", own, "native"},
		{"this machine by name", own, "", own, "native"},
		{"any machine like this", "", "base", own, "base"},
		{"another architecture", other, "", other, "generic"},
		{"another CPU", other, "base", other, "base"},
	} {
		got := target(func(name string) string { return map[string]string{"DIGLOT_ARCH": tt.arch, "DIGLOT_CPU": tt.cpu}[name] })
		if want := (toolchain.Target{Arch: tt.wantArch, Flags: toolchain.CPU(tt.wantArch, tt.wantCPU)}); got != want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, want)
		}
	}
}
