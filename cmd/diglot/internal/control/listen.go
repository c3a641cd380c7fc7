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

// maxPath is how many bytes the path of a socket may have: 108 on Linux and
// 104 on macOS, one of them for the end.
const maxPath = 103

// ErrRunning is the error of [Listen] where another server has the socket.
var ErrRunning = errors.New("a server is running already")

// Listen opens the socket at path for this user alone, in a folder that is
// made where it is missing. What a server left that was killed is replaced;
// a server that lives is [ErrRunning].
func Listen(path string) (net.Listener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the folder for the socket cannot be made: %w", err)
	}
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("the socket cannot be locked: %w", err)
	case !held:
		return nil, fmt.Errorf("%w, with the socket %s", ErrRunning, path)
	}
	l, err := replace(path)
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return &listener{Listener: l, path: path, lock: lock}, nil
}

// checkFolder refuses a folder where others could put a socket of theirs in
// place of this one, and read what is typed into it.
func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if isForeign(info) {
		return fmt.Errorf("the folder %s belongs to another user, so the socket cannot be there", dir)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others may write to the folder %s, so the socket cannot be there; make it yours alone with: chmod go-w %s", dir, dir)
	}
	return nil
}

// replace makes a listening socket at path, in place of the one that a dead
// server has left there. It is made in a folder of its own and then moved, so
// that nobody else may open it at any moment.
func replace(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() != fs.ModeSocket {
		return nil, fmt.Errorf("%s is not a socket; it is left as it is", path)
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
	l.SetUnlinkOnClose(false) // it is elsewhere by then
	if err := os.Chmod(temporary, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if err := os.Rename(temporary, path); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// listener takes its socket and its lock with it.
type listener struct {
	net.Listener
	path string
	lock *flock.Flock
	once sync.Once
	err  error
}

// Close stops listening. The lock's file stays: a server that waits for it to
// be gone would race with one that makes it anew.
func (l *listener) Close() error {
	l.once.Do(func() {
		l.err = errors.Join(l.Listener.Close(), os.Remove(l.path), l.lock.Unlock())
	})
	return l.err
}
