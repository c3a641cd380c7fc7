package main

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/diglot/diglot/engine/local/variant"
)

// file is a file of an archive.
type file struct {
	name string // in the archive, with slashes
	mode int64
	data []byte
}

// documents is where an archive has its documents.
const documents = "share/doc/diglot"

// contents are the files of an archive. The last program runs everywhere.
func contents(programs []program, notices []byte) ([]file, error) {
	const first = "bin/diglot"
	files := []file{{documents + "/THIRD-PARTY-NOTICES", 0o644, notices}}
	for i, p := range programs {
		data, err := os.ReadFile(p.path)
		if err != nil {
			return nil, err
		}
		name := filepath.ToSlash(variant.Path(first, p.variant))
		if i == len(programs)-1 {
			name = first
		}
		files = append(files, file{name, 0o755, data})
	}
	for _, name := range []string{"LICENSE", "README.md", "SECURITY.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{documents + "/" + name, 0o644, data})
	}
	return files, nil
}

// writeArchive writes files below a folder of the archive. The bytes depend on the
// files and the time alone.
func writeArchive(to, folder string, changed time.Time, files []file) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	packed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(packed)
	for _, f := range withFolders(files) {
		header := &tar.Header{Name: path.Join(folder, f.name), Mode: f.mode, Size: int64(len(f.data)), ModTime: changed, Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if f.data == nil {
			header.Name, header.Typeflag = header.Name+"/", tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.data); err != nil {
			return err
		}
	}
	return cmp.Or(archive.Close(), packed.Close(), out.Close())
}

// withFolders adds the folders of files, which have no data, and sorts all by name.
func withFolders(files []file) []file {
	all := slices.Clone(files)
	for _, f := range files {
		for dir := path.Dir(f.name); ; dir = path.Dir(dir) {
			all = append(all, file{dir, 0o755, nil})
			if dir == "." {
				break
			}
		}
	}
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return slices.CompactFunc(all, func(a, b file) bool { return a.name == b.name })
}

// writeSums writes SHA256SUMS of the archives in a folder.
func writeSums(folder string) error {
	names, err := filepath.Glob(filepath.Join(folder, "*.tar.gz"))
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, name := range names { // sorted
		sum, err := sumOf(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sum, filepath.Base(name))
	}
	if len(names) == 0 {
		return nil
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

func sumOf(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return nil, err
	}
	return sum.Sum(nil), nil
}
