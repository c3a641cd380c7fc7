package llamacpp

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/gguf"
)

func describe(path string, changed time.Time, file *gguf.File, vocab *vocabulary, limit int) chat.Info {
	return chat.Info{
		Name:     nameOf(file, path),
		Owner:    file.String("general.organization"),
		Changed:  changed,
		Template: file.Template(),
		BOS:      vocab.spelled(vocab.bos),
		EOS:      vocab.spelled(vocab.eos),
		Control:  slices.Sorted(maps.Keys(vocab.control)),
		FIM:      vocab.fim,
		Context:  limit,
		Sampling: sampling(file),
	}
}

func nameOf(file *gguf.File, path string) string {
	if name := file.String("general.name"); name != "" {
		return name
	}
	return strings.TrimSuffix(filepath.Base(path), ".gguf")
}

// sampling is what the file recommends. A value that makes no sense is
// left out rather than believed.
func sampling(file *gguf.File) engine.Sampling {
	var s engine.Sampling
	if v, ok := file.Float("general.sampling.temp"); ok && v >= 0 && v <= 2 {
		s.Temperature = &v
	}
	if v, ok := file.Float("general.sampling.top_p"); ok && v > 0 && v <= 1 {
		s.TopP = &v
	}
	if v, ok := file.Float("general.sampling.min_p"); ok && v >= 0 && v <= 1 {
		s.MinP = &v
	}
	if v, ok := file.Int("general.sampling.top_k"); ok && v >= 0 {
		k := int(min(v, 1<<20))
		s.TopK = &k
	}
	return s
}

// bytesPerCell estimates what one token takes in the cache: a key and a
// value in each layer, as 16-bit floats.
func bytesPerCell(file *gguf.File) int64 {
	const defaultCell = 1 << 17 // of an 8B model, where the file says nothing
	layers, _ := file.Int(file.Key("block_count"))
	heads, _ := file.Int(file.Key("attention.head_count"))
	width, _ := file.Int(file.Key("embedding_length"))
	if layers <= 0 || heads <= 0 || width <= 0 || layers > 1<<12 {
		return defaultCell
	}
	key, value := width/heads, width/heads
	if v, ok := file.Int(file.Key("attention.key_length")); ok {
		key = v
	}
	if v, ok := file.Int(file.Key("attention.value_length")); ok {
		value = v
	}
	cell := keyHeads(file, layers, heads) * (key + value) * 2
	if cell <= 0 {
		return defaultCell
	}
	return cell
}

// keyHeads sums the heads that have keys over the layers; models may have
// another number in each.
func keyHeads(file *gguf.File, layers, heads int64) int64 {
	key := file.Key("attention.head_count_kv")
	each := file.Ints(key)
	if each == nil {
		if v, ok := file.Int(key); ok {
			heads = v
		}
		return layers * heads
	}
	sum := int64(0)
	for _, n := range each {
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
