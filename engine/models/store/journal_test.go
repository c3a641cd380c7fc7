package store

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJournalMerges(t *testing.T) {
	for _, test := range []struct {
		name          string
		add           []Range
		done, missing []Range
	}{
		{"nothing", nil, nil, []Range{{0, 100}}},
		{"no bytes", []Range{{5, 0}, {100, 0}}, nil, []Range{{0, 100}}},
		{"all", []Range{{0, 100}}, []Range{{0, 100}}, nil},
		{"apart", []Range{{50, 10}, {10, 10}}, []Range{{10, 10}, {50, 10}}, []Range{{0, 10}, {20, 30}, {60, 40}}},
		{"next to each other", []Range{{10, 10}, {30, 10}, {20, 10}}, []Range{{10, 30}}, []Range{{0, 10}, {40, 60}}},
		{"overlapping", []Range{{10, 20}, {20, 20}, {5, 10}}, []Range{{5, 35}}, []Range{{0, 5}, {40, 60}}},
		{"inside", []Range{{10, 50}, {20, 5}}, []Range{{10, 50}}, []Range{{0, 10}, {60, 40}}},
		{"around", []Range{{20, 5}, {40, 5}, {10, 80}}, []Range{{10, 80}}, []Range{{0, 10}, {90, 10}}},
		{"twice", []Range{{0, 1}, {0, 1}}, []Range{{0, 1}}, []Range{{1, 99}}},
		{"the end", []Range{{99, 1}}, []Range{{99, 1}}, []Range{{0, 99}}},
	} {
		j := journal{size: 100}
		for _, r := range test.add {
			j.merge(r)
		}
		if diff := cmp.Diff(test.done, j.done); diff != "" {
			t.Errorf("%s: done (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.missing, j.missing()); diff != "" {
			t.Errorf("%s: missing (-want +got):\n%s", test.name, diff)
		}
	}
}

// journalText is a journal with three parts, and the parts.
func journalText() (l Layer, text []byte, parts []Range) {
	l = layerOf(strings.Repeat("x", 100))
	text = sealLine("blob " + string(l.Digest) + " 100")
	text = append(text, sealLine("done 10 10")...)
	text = append(text, sealLine("done 50 5")...)
	text = append(text, sealLine("done 99 1")...)
	return l, text, []Range{{10, 10}, {50, 5}, {99, 1}}
}

// TestJournalIsCutAnywhere ends the file after every one of its bytes.
func TestJournalIsCutAnywhere(t *testing.T) {
	l, text, parts := journalText()
	for cut := range len(text) + 1 {
		path := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(path, text[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(text[:cut], []byte("\n"))
		want := slices.Clone(parts[:max(lines-1, 0)])
		for range 2 { // with a part more the second time
			j, err := openJournal(disk{}, path, l, true)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(want, j.done) {
				t.Errorf("cut at %d: %v is done, not %v", cut, j.done, want)
			}
			if err := j.add(Range{0, 1}); err != nil {
				t.Fatal(err)
			}
			if err := j.close(); err != nil {
				t.Fatal(err)
			}
			want = slices.Insert(want, 0, Range{0, 1})
			if len(want) > 1 && want[1] == want[0] {
				want = want[1:]
			}
		}
	}
}

// TestJournalWithAWrongByte changes every byte of the file.
func TestJournalWithAWrongByte(t *testing.T) {
	l, text, parts := journalText()
	head := "blob " + string(l.Digest) + " 100"
	for at := range text {
		wrong := slices.Clone(text)
		wrong[at] ^= 1
		lines := bytes.Count(text[:at], []byte("\n")) // that are before it
		j := journal{size: 100}
		j.read(wrong, head)
		if want := parts[:max(lines-1, 0)]; !slices.Equal(j.done, want) {
			t.Errorf("byte %d is wrong: %v is done, not %v", at, j.done, want)
		}
	}
}

func FuzzJournal(f *testing.F) {
	l, text, _ := journalText()
	head := "blob " + string(l.Digest) + " 100"
	f.Add(text, true)
	f.Add(text[:len(text)-1], true)
	f.Add([]byte("done 5 200\ndone -1 5\ndone 9223372036854775807 1\ndone 1 9223372036854775807\ndone 0 0\ndone 3 x\nnot"), false)
	f.Fuzz(func(t *testing.T, text []byte, sealed bool) {
		if !sealed { // so that the checksums are right
			lines := bytes.Split(text, []byte("\n"))
			text = sealLine(head)
			for _, line := range lines {
				text = append(text, sealLine(string(line))...)
			}
		}
		j := journal{size: 100}
		if good := j.read(text, head); good < 0 || good > len(text) {
			t.Errorf("%d of %d bytes are good", good, len(text))
		}
		var at int64
		for _, r := range j.done {
			if r.Length <= 0 || r.Offset < at || r.end() > 100 {
				t.Errorf("%v is not in order and inside", j.done)
			}
			at = r.end() + 1
		}
		all := append(slices.Clone(j.done), j.missing()...)
		slices.SortFunc(all, func(a, b Range) int { return int(a.Offset - b.Offset) })
		at = 0
		for _, r := range all {
			if r.Offset != at {
				t.Errorf("%v and %v do not add up", j.done, j.missing())
			}
			at = r.end()
		}
		if at != 100 {
			t.Errorf("%v and %v do not add up", j.done, j.missing())
		}
	})
}
