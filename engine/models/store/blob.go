package store

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/opencontainers/go-digest"
)

// BlobPath is where the blob of a digest is, if it is there. It is empty for
// what is not a sha256 digest, so that no path leaves the store; a [Manifest]
// that was read from the store has no such digest.
func (s *Store) BlobPath(d digest.Digest) string {
	if checkDigest(d) != nil {
		return ""
	}
	return filepath.Join(s.blobs(), blobName(d))
}

func blobName(d digest.Digest) string { return "sha256-" + d.Encoded() }

// ReadBlob reads a small layer, and checks its size and its digest. One that
// has more than limit bytes is refused.
func (s *Store) ReadBlob(l Layer, limit int64) ([]byte, error) {
	if l.Size > limit {
		return nil, fmt.Errorf("layer %s has %d bytes, more than the %d that one of its kind may have", l.Digest, l.Size, limit)
	}
	path, err := s.Find(l)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read layer %s: %w", l.Digest, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, l.Size+1))
	if err != nil {
		return nil, fmt.Errorf("read layer %s: %w", l.Digest, err)
	}
	if digest.FromBytes(text) != l.Digest {
		return nil, fmt.Errorf("layer %s is damaged: pull or create the model again (%w)", l.Digest, ErrDigest)
	}
	return text, nil
}

// Find gives the path of the blob of a layer, which is there with its size. Its
// content is not read. The error is a sentence that says what to do.
func (s *Store) Find(l Layer) (path string, err error) {
	if err := checkDigest(l.Digest); err != nil {
		return "", fmt.Errorf("a layer is named by %w", err)
	}
	path = s.BlobPath(l.Digest)
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return "", fmt.Errorf("layer %s is missing: pull or create the model again", l.Digest)
	case err != nil:
		return "", fmt.Errorf("layer %s cannot be read: %w", l.Digest, err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("layer %s is not a file", l.Digest)
	case info.Size() != l.Size:
		return "", fmt.Errorf("layer %s has %d bytes in place of %d: pull or create the model again", l.Digest, info.Size(), l.Size)
	}
	return path, nil
}

// has is nil where [Store.Find] finds the blob of a layer.
func (s *Store) has(l Layer) error {
	_, err := s.Find(l)
	return err
}

// maxSound is the most bytes of a blob whose content is looked at before it is
// taken for one that is there: all that is not weights. Whoever wrote it may
// not have brought it to the disk before the power failed.
const maxSound = 32 << 20

// sound is has, and the content of a small blob is right too.
func (s *Store) sound(l Layer) bool {
	if l.Size > maxSound {
		return s.has(l) == nil
	}
	_, err := s.ReadBlob(l, maxSound)
	return err == nil
}
