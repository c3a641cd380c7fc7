package control

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/gofrs/flock"
)

// maxPath bounds the path of a socket, in bytes: 108 on Linux and 104 on macOS,
// including a NUL.
const maxPath = 103

// ErrRunning is the error of [Listen] if another server has the socket.
var ErrRunning = errors.New("a server is running already")

// Listen opens the socket at path, only for this user, and creates its directory
// if missing. It replaces the socket of a dead server; with a live one it fails
// with [ErrRunning].
func Listen(path string) (net.Listener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the directory of the socket: %w", err)
	}
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("lock the socket: %w", err)
	case !held:
		return nil, fmt.Errorf("%w on socket %s", ErrRunning, path)
	}
	l, err := replace(path)
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return &listener{Listener: l, path: path, lock: lock}, nil
}

// checkFolder refuses a directory in which others could replace the socket by
// theirs, and read what the user types.
func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if isForeign(info) {
		return fmt.Errorf("the directory %s belongs to another user, so the socket cannot be there", dir)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others may write to the directory %s, so the socket cannot be there; to forbid that: chmod go-w %s", dir, dir)
	}
	return nil
}

// replace creates a listening socket at path and replaces a stale one. It creates
// it in a private directory and renames it, so that others can never open it.
func replace(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() != fs.ModeSocket {
		return nil, fmt.Errorf("%s exists and is not a socket", path)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".s")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	temporary := filepath.Join(dir, "s")
	if len(path) > maxPath || len(temporary) > maxPath {
		return nil, fmt.Errorf("the path of the socket, %s, is too long: the system allows about 80 bytes", path)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: temporary, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // it will be renamed
	if err := os.Chmod(temporary, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if err := os.Rename(temporary, path); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// listener removes its socket and releases its lock when it is closed.
type listener struct {
	net.Listener
	path string
	lock *flock.Flock
	once sync.Once
	err  error
}

// Close stops listening. The lock file stays: removing it would let two servers
// hold different locks.
func (l *listener) Close() error {
	l.once.Do(func() {
		l.err = errors.Join(l.Listener.Close(), os.Remove(l.path), l.lock.Unlock())
	})
	return l.err
}
