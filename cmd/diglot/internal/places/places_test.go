package places

import (
	"path/filepath"
	"testing"
)

func TestPlaces(t *testing.T) {
	for _, tt := range []struct {
		name                    string
		variables               map[string]string
		models, socket, history string
	}{
		{"home", map[string]string{"HOME": "/h"}, "/h/.diglot/models", "/h/.diglot/diglot.sock", "/h/.diglot/history"},
		{"another", map[string]string{"USERPROFILE": "/u"}, "/u/.diglot/models", "/u/.diglot/diglot.sock", "/u/.diglot/history"},
		{"moved", map[string]string{"HOME": "/h", "DIGLOT_HOME": "/d"}, "/d/models", "/d/diglot.sock", "/d/history"},
		{"each", map[string]string{"HOME": "/h", "DIGLOT_MODELS": "/m", "DIGLOT_SOCKET": "/s"}, "/m", "/s", "/h/.diglot/history"},
		{"none", nil, "error", "error", "error"},
	} {
		p := Find(func(name string) string { return tt.variables[name] })
		for what, got := range map[string]func() (string, error){"models": p.ModelsDir, "socket": p.SocketPath, "history": p.HistoryPath} {
			path, err := got()
			if err != nil {
				path = "error"
			}
			want := map[string]string{"models": tt.models, "socket": tt.socket, "history": tt.history}[what]
			if filepath.ToSlash(path) != want {
				t.Errorf("%s: %s is %s, want %s", tt.name, what, path, want)
			}
		}
	}
}
