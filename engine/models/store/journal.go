package store

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// journal records the finished ranges of a download in a file of lines. The
// first line identifies the blob. Each has a checksum: a line that a crash cut
// is dropped, and so are all after it.
//
//	blob DIGEST SIZE CRC
//	done OFFSET LENGTH CRC
type journal struct {
	file *file
	size int64   // of the blob
	done []Range // sorted, without overlaps
}

// maxJournal bounds what is read of a journal, in bytes: two million ranges.
// Ranges beyond it are downloaded again.
const maxJournal = 64 << 20

// openJournal opens or starts a journal. Its content is used only if trusted,
// which means that its data file is valid, and if it is for the same layer.
func openJournal(d disk, path string, l Layer, trusted bool) (*journal, error) {
	f, err := d.open(path)
	if err != nil {
		return nil, err
	}
	j := &journal{file: f, size: l.Size}
	text, err := io.ReadAll(io.LimitReader(f.File, maxJournal))
	if err != nil {
		f.Close()
		return nil, err
	}
	head := fmt.Sprintf("blob %s %d", l.Digest, l.Size)
	good := 0
	if trusted {
		good = j.read(text, head)
	}
	if err := j.begin(good, head); err != nil {
		f.Close()
		return nil, err
	}
	return j, d.syncDir(filepath.Dir(path))
}

// read applies the valid lines and returns their length.
func (j *journal) read(text []byte, head string) (good int) {
	for line := range bytes.Lines(text) {
		content, ok := openLine(line)
		if !ok {
			return good
		}
		if good == 0 && content != head {
			return 0
		}
		if good > 0 {
			r, ok := parseRange(content, j.size)
			if !ok {
				return good
			}
			j.merge(r)
		}
		good += len(line)
	}
	return good
}

// begin truncates the file after its valid lines.
func (j *journal) begin(good int, head string) error {
	if err := j.file.Truncate(int64(good)); err != nil {
		return err
	}
	if _, err := j.file.Seek(int64(good), io.SeekStart); err != nil {
		return err
	}
	if good == 0 {
		return j.append(head)
	}
	return nil
}

// add records a range durably.
func (j *journal) add(r Range) error {
	if err := j.append(fmt.Sprintf("done %d %d", r.Offset, r.Length)); err != nil {
		return err
	}
	j.merge(r)
	return nil
}

func (j *journal) append(content string) error {
	if _, err := j.file.Write(sealLine(content)); err != nil {
		return err
	}
	return j.file.Sync()
}

func (j *journal) close() error { return j.file.Close() }

func sealLine(content string) []byte {
	return fmt.Appendf(nil, "%s %08x\n", content, crc32.ChecksumIEEE([]byte(content)))
}

func openLine(line []byte) (content string, ok bool) {
	i := bytes.LastIndexByte(line, ' ')
	if i < 0 {
		return "", false
	}
	return string(line[:i]), bytes.Equal(line, sealLine(string(line[:i])))
}

func parseRange(content string, size int64) (Range, bool) {
	fields := strings.Split(content, " ")
	if len(fields) != 3 || fields[0] != "done" {
		return Range{}, false
	}
	offset, err1 := strconv.ParseInt(fields[1], 10, 64)
	length, err2 := strconv.ParseInt(fields[2], 10, 64)
	r := Range{offset, length}
	return r, err1 == nil && err2 == nil && offset >= 0 && length >= 0 && offset <= size && length <= size-offset
}

// merge adds a range to done.
func (j *journal) merge(r Range) {
	if r.Length == 0 {
		return
	}
	from, _ := slices.BinarySearchFunc(j.done, r.Offset, func(d Range, offset int64) int {
		if d.end() < offset {
			return -1
		}
		return 1
	})
	to := from
	for to < len(j.done) && j.done[to].Offset <= r.end() {
		end := max(r.end(), j.done[to].end())
		r.Offset = min(r.Offset, j.done[to].Offset)
		r.Length = end - r.Offset
		to++
	}
	j.done = slices.Replace(j.done, from, to, r)
}

// missing returns the gaps between the finished ranges.
func (j *journal) missing() []Range {
	var gaps []Range
	var at int64
	for _, d := range j.done {
		if d.Offset > at {
			gaps = append(gaps, Range{at, d.Offset - at})
		}
		at = d.end()
	}
	if at < j.size {
		gaps = append(gaps, Range{at, j.size - at})
	}
	return gaps
}
