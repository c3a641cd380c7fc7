package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/diglot/diglot/engine/imagegen/sdcpp"
)

// fetch downloads the source package, unless it is there.
func (b builder) fetch(ctx context.Context) error {
	kept := b.work("package.tar.gz")
	if check(kept, b.release.SHA256) == nil {
		return nil
	}
	fmt.Fprintf(b.log, "imagegen: fetching %s %s\n", b.release.Package, b.release.Version)
	folder, err := os.MkdirTemp(b.folder+".part", "pip-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path, err := b.download(ctx, b.release, folder)
	if err != nil {
		return err
	}
	if err := check(path, b.release.SHA256); err != nil {
		return err
	}
	return os.Rename(path, kept)
}

// pipDownload uses pip, for the user's settings of proxies and mirrors. It builds
// nothing, but pip asks the package for its metadata, for which it fetches some tools.
func pipDownload(ctx context.Context, r sdcpp.Release, folder string) (string, error) {
	cmd := exec.CommandContext(ctx, "python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
		"--no-deps", "--no-binary", r.Package, "--dest", folder, r.Package+"=="+r.Version)
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("pip download: %w\n%s", err, strings.TrimSpace(string(said)))
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.tar.gz"))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("pip downloaded %d source packages instead of one", len(files))
	}
	return files[0], nil
}

// check verifies the SHA-256 of a file.
func check(path, want string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		return fmt.Errorf("%s has the SHA-256 %s, not %s", filepath.Base(path), got, want)
	}
	return nil
}

// engineFolder is where the package has the engine's sources.
const engineFolder = "vendor/stable-diffusion.cpp/"

// unpack unpacks the engine's sources, unless they are there.
func (b builder) unpack(context.Context) error {
	source := b.work("source")
	if _, err := os.Stat(source); err == nil {
		return nil
	}
	part := source + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	in, err := os.Open(b.work("package.tar.gz"))
	if err != nil {
		return err
	}
	defer in.Close()
	if err := extract(in, part); err != nil {
		return fmt.Errorf("the source package: %w", err)
	}
	return os.Rename(part, source)
}

// extract writes the files of the engine below folder.
func extract(in io.Reader, folder string) error {
	plain, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	members := tar.NewReader(plain)
	written := 0
	for {
		m, err := members.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		_, name, _ := strings.Cut(m.Name, "/") // the first folder has the package's name
		name, ours := strings.CutPrefix(name, engineFolder)
		if !ours || m.Typeflag != tar.TypeReg {
			continue
		}
		if !filepath.IsLocal(name) {
			return fmt.Errorf("%s is outside of it", m.Name)
		}
		if err := writeMember(filepath.Join(folder, name), members); err != nil {
			return err
		}
		written++
	}
	if written == 0 {
		return fmt.Errorf("it has no %s", engineFolder)
	}
	return nil
}

func writeMember(path string, content io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
