package llamacpp

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// inspect reads the head of the file, and of the parts that belong to it.
func inspect(path string) (*gguf, error) {
	first, err := inspectPart(path)
	if err != nil {
		return nil, err
	}
	parts, ok := first.int("split.count")
	if !ok || parts <= 1 {
		return first, nil
	}
	names := partNames(path, int(parts))
	if names == nil {
		return nil, fmt.Errorf("the file is the first of %d parts, and its name does not end in -00001-of-%05d.gguf", parts, parts)
	}
	for _, name := range names[1:] {
		if _, err := inspectPart(name); err != nil {
			return nil, fmt.Errorf("part %s: %w", filepath.Base(name), err)
		}
	}
	return first, nil
}

func inspectPart(path string) (*gguf, error) {
	// Asked before it is opened: opening a named pipe waits for a writer.
	stat, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() {
		return nil, fmt.Errorf("not a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readGGUF(f, stat.Size())
}

var partSuffix = regexp.MustCompile(`-00001-of-(\d{5})\.gguf$`)

// partNames lists the files of a model that is split; nil where the name of
// the first does not fit.
func partNames(path string, parts int) []string {
	m := partSuffix.FindStringSubmatch(path)
	if m == nil || m[1] != fmt.Sprintf("%05d", parts) {
		return nil
	}
	stem := strings.TrimSuffix(path, m[0])
	var names []string
	for i := range parts {
		names = append(names, fmt.Sprintf("%s-%05d-of-%05d.gguf", stem, i+1, parts))
	}
	return names
}

func describe(path string, changed time.Time, file *gguf, vocab *vocabulary, limit int) chat.Info {
	return chat.Info{
		Name:     file.name(path),
		Owner:    file.string("general.organization"),
		Changed:  changed,
		Template: file.string("tokenizer.chat_template"),
		BOS:      vocab.spelled(vocab.bos),
		EOS:      vocab.spelled(vocab.eos),
		Control:  slices.Sorted(maps.Keys(vocab.control)),
		FIM:      vocab.fim,
		Context:  limit,
		Sampling: file.sampling(),
	}
}

func (g *gguf) name(path string) string {
	if name := g.string("general.name"); name != "" {
		return name
	}
	return strings.TrimSuffix(filepath.Base(path), ".gguf")
}

// sampling is what the file recommends. A value that makes no sense is
// left out rather than believed.
func (g *gguf) sampling() engine.Sampling {
	var s engine.Sampling
	if v, ok := g.float("general.sampling.temp"); ok && v >= 0 && v <= 2 {
		s.Temperature = &v
	}
	if v, ok := g.float("general.sampling.top_p"); ok && v > 0 && v <= 1 {
		s.TopP = &v
	}
	if v, ok := g.float("general.sampling.min_p"); ok && v >= 0 && v <= 1 {
		s.MinP = &v
	}
	if v, ok := g.int("general.sampling.top_k"); ok && v >= 0 {
		k := int(min(v, 1<<20))
		s.TopK = &k
	}
	return s
}

// bytesPerCell estimates what one token takes in the cache: a key and a
// value in each layer, as 16-bit floats.
func (g *gguf) bytesPerCell() int64 {
	const defaultCell = 1 << 17 // of an 8B model, where the file says nothing
	layers, _ := g.arch("block_count")
	heads, _ := g.arch("attention.head_count")
	width, _ := g.arch("embedding_length")
	if layers <= 0 || heads <= 0 || width <= 0 || layers > 1<<12 {
		return defaultCell
	}
	key, value := width/heads, width/heads
	if v, ok := g.arch("attention.key_length"); ok {
		key = v
	}
	if v, ok := g.arch("attention.value_length"); ok {
		value = v
	}
	cell := g.keyHeads(layers, heads) * (key + value) * 2
	if cell <= 0 {
		return defaultCell
	}
	return cell
}

// keyHeads sums the heads that have keys over the layers; models may have
// another number in each.
func (g *gguf) keyHeads(layers, heads int64) int64 {
	key := g.string("general.architecture") + ".attention.head_count_kv"
	each, ok := g.meta[key].([]any)
	if !ok {
		if v, ok := g.int(key); ok {
			heads = v
		}
		return layers * heads
	}
	sum := int64(0)
	for _, v := range each {
		n, _ := asInt(v)
		sum += n
	}
	return sum
}

// cellsPerRequest is how much of a bigger pool than one full context each
// request that runs beside others gets.
const cellsPerRequest = 2048

// poolStep is what llama.cpp rounds the number of cells to.
const poolStep = 256

// size decides how many tokens one request may use, and how many cells all
// of them share. A request may have the whole pool, if it runs alone. What
// nobody asked for is cut to what memory, in bytes, has room for; a context
// that was asked for may take twice that, and beyond is an error: the machine
// would swap, or end the process in the middle of an answer.
func size(o Options, trained int, cellBytes, memory int64) (limit, pool int, err error) {
	limit = trained
	if o.Context > 0 {
		limit = o.Context
	}
	affordable := int(memory / cellBytes)
	if o.Context > 2*affordable {
		return 0, 0, fmt.Errorf("a context of %d tokens needs %d MiB of cache, and there is room for %d MiB: %d tokens at most",
			limit, int64(limit)*cellBytes>>20, 2*memory>>20, 2*affordable)
	}
	pool = max(limit, o.Parallel*min(limit, cellsPerRequest))
	if pool > affordable {
		pool = max(affordable, o.Context, cellsPerRequest)
	}
	pool = (pool + poolStep - 1) / poolStep * poolStep
	return min(limit, pool), pool, nil
}

// availableMemory is what the cache may take: half of what the machine has
// free beside the weights, so that other programs live.
func availableMemory(weights int64) int64 {
	const unknown = 4 << 30
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return unknown
	}
	free, ok := memAvailable(info)
	if !ok {
		return unknown
	}
	return max(free-weights, 0) / 2
}

// memAvailable finds the line in /proc/meminfo, in kB there.
func memAvailable(meminfo []byte) (int64, bool) {
	lines := bufio.NewScanner(bytes.NewReader(meminfo))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) >= 2 && fields[0] == "MemAvailable:" {
			kb, err := strconv.ParseInt(fields[1], 10, 64)
			return kb << 10, err == nil
		}
	}
	return 0, false
}
