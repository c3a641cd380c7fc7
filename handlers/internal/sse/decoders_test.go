package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decoders are known ways of clients to read a stream; each returns the data of the events.
var decoders = map[string]func([]byte) ([]string, error){
	"by the standard": readStandard,
	"an event at each blank line (older Go SDKs)": readEachBlankLine,
	"lines alone (go-openai, curl and grep)":      readLines,
	"blocks between blank lines (Python, Spring)": readBlocks,
	"our own reader": readOurs,
	"the standard, in pieces of any size (Vercel)": readPieces,
}

func readStandard(in []byte) ([]string, error) {
	var all, data []string
	for line := range strings.Lines(string(in)) {
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "":
			if data != nil {
				all = append(all, strings.Join(data, "\n"))
			}
			data = nil
		case strings.HasPrefix(line, "data:"):
			data = append(data, strings.TrimPrefix(line[5:], " "))
		}
	}
	return all, nil
}

var errNoData = errors.New("an event without data")

func readEachBlankLine(in []byte) ([]string, error) {
	var all []string
	var data bytes.Buffer
	for lines := bufio.NewScanner(bytes.NewReader(in)); lines.Scan(); {
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		switch {
		case len(lines.Bytes()) == 0:
			if data.Len() == 0 {
				return all, errNoData
			}
			all = append(all, data.String())
			data.Reset()
		case string(name) == "data":
			data.Write(bytes.TrimPrefix(value, []byte(" ")))
		}
	}
	return all, nil
}

func readLines(in []byte) ([]string, error) {
	var all []string
	for line := range strings.Lines(string(in)) {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:"); ok {
			all = append(all, strings.TrimSpace(data))
		}
	}
	return all, nil
}

func readBlocks(in []byte) ([]string, error) {
	var all []string
	blocks := strings.Split(string(in), "\n\n")
	if last := blocks[len(blocks)-1]; last != "" {
		return nil, fmt.Errorf("half a block %q at the end", last)
	}
	for _, block := range blocks[:len(blocks)-1] {
		for line := range strings.SplitSeq(block, "\n") {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				all = append(all, data)
			}
		}
	}
	return all, nil
}

func readOurs(in []byte) ([]string, error) {
	var all []string
	for r := NewReader(bytes.NewReader(in)); ; {
		f, err := r.Next()
		if err != nil {
			return all, nil
		}
		all = append(all, string(f.Data))
	}
}

func readPieces(in []byte) ([]string, error) {
	var all, data []string
	var rest string
	random := rand.New(rand.NewPCG(1, uint64(len(in))))
	for len(in) > 0 {
		n := 1 + random.IntN(len(in))
		rest, in = rest+string(in[:n]), in[n:]
		for {
			line, behind, ok := strings.Cut(rest, "\n")
			if !ok {
				break
			}
			rest = behind
			if value, ok := strings.CutPrefix(line, "data: "); ok {
				data = append(data, value)
			} else if line == "" && data != nil {
				all, data = append(all, strings.Join(data, "\n")), nil
			}
		}
	}
	return all, nil
}

// TestKeepAlives checks that all decoders skip comments.
func TestKeepAlives(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var stream []byte
		var want []string
		for i := range 1 + random.IntN(5) {
			for range random.IntN(3) {
				stream = Frame{Comment: "keep-alive"}.Append(stream)
			}
			f := Frame{Data: fmt.Appendf(nil, `{"n":%d}`, i)}
			if random.IntN(2) == 0 {
				f.Event = "some"
			}
			stream, want = f.Append(stream), append(want, string(f.Data))
		}
		for name, read := range decoders {
			got, err := read(stream)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %q: %v (-want +got)\n%s", name, stream, err, diff)
			}
		}
	}
}
