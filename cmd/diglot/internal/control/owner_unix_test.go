//go:build unix

package control

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// owned is a file that a user owns.
type owned struct {
	fs.FileInfo
	uid int
}

func (o owned) Sys() any { return &syscall.Stat_t{Uid: uint32(o.uid)} }

func TestIsForeign(t *testing.T) {
	for _, test := range []struct {
		name string
		uid  int
		want bool
	}{
		{"mine", os.Geteuid(), false},
		{"the administrator's", 0, false},
		{"another's", os.Geteuid() + 1, true},
	} {
		if got := isForeign(owned{uid: test.uid}); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// Who may give files away sees that the socket is not put into a directory that
// another user owns.
func TestListenInAFolderOfAnother(t *testing.T) {
	dir := t.TempDir()
	err := os.Chown(dir, os.Geteuid()+1, -1)
	path := filepath.Join(dir, "s.sock")
	l, listenErr := Listen(path)
	if listenErr == nil {
		defer l.Close()
	}
	if refused := listenErr != nil && strings.Contains(listenErr.Error(), "belongs to another user"); refused != (err == nil) {
		t.Errorf("the directory was given away with %v, and the socket with %v", err, listenErr)
	}
}
