package store

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/opencontainers/go-digest"
)

// BlobPath is the path of a blob, which need not exist. It is empty if d is not
// a sha256 digest, so that no path leaves the store.
func (s *Store) BlobPath(d digest.Digest) string {
	if checkDigest(d) != nil {
		return ""
	}
	return filepath.Join(s.blobs(), blobName(d))
}

func blobName(d digest.Digest) string { return "sha256-" + d.Encoded() }

// ReadBlob reads a layer of up to limit bytes, and checks its size and digest.
func (s *Store) ReadBlob(l Layer, limit int64) ([]byte, error) {
	if l.Size > limit {
		return nil, fmt.Errorf("layer %s has %d bytes; the limit for its kind is %d", l.Digest, l.Size, limit)
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
		return nil, fmt.Errorf("layer %s is corrupt: pull or create the model again (%w)", l.Digest, ErrDigest)
	}
	return text, nil
}

// Find returns the path of a layer's blob, if it exists with the right size. It
// does not read the content. The error tells the user what to do.
func (s *Store) Find(l Layer) (path string, err error) {
	if err := checkDigest(l.Digest); err != nil {
		return "", fmt.Errorf("invalid layer: %w", err)
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
		return "", fmt.Errorf("layer %s has %d bytes instead of %d: pull or create the model again", l.Digest, info.Size(), l.Size)
	}
	return path, nil
}

// maxVerified is the largest blob, in bytes, whose digest is checked before an
// existing one is reused. It includes everything but weights. A program that
// did not sync may have left a corrupt blob behind when the power failed.
const maxVerified = 32 << 20

// intact reports whether a blob exists and can be reused.
func (s *Store) intact(l Layer) bool {
	if l.Size > maxVerified {
		_, err := s.Find(l)
		return err == nil
	}
	_, err := s.ReadBlob(l, maxVerified)
	return err == nil
}
