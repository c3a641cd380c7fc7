//go:build imagegen

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/diffusion"
	"github.com/diglot/diglot/engine/diffusion/diffusiontest"
	"github.com/diglot/diglot/engine/models/modelfile"
	"github.com/diglot/diglot/engine/models/store"
)

var (
	imageMutantSeed  = flag.Uint64("imagemutants.seed", 1, "chooses the mutations of an image model's files")
	imageMutantCount = flag.Int("imagemutants.count", 6, "how many files are mutated") // 200 take some minutes
)

// TestImageMutants changes the files of an image model in the store, as a broken disk or
// someone hostile would. A request then gets an error or an image, the server lives on,
// and the next request for another model works.
func TestImageMutants(t *testing.T) {
	f := newImageFarm(t)
	random := rand.New(rand.NewPCG(*imageMutantSeed, 0))
	counts := map[string]int{}
	for i := range *imageMutantCount {
		role := i % len(f.blobs)
		what, mutant := f.mutate(role, random)
		end := f.try(i, role, mutant)
		counts[end]++
		t.Logf("%3d, file %d: %s: %s", i, role, what, end)
		if end != endsProcess && i%5 != 0 {
			continue // the next mutant shows that the server lives
		}
		if got := drawnBy(t, f.url, "good", `,"size":"64x64"`); got[0] != f.good {
			t.Fatalf("%d: %s: the next image of another model differs", i, what)
		}
	}
	t.Logf("%v", counts)
	if n := counts["refused by its header"]; n == *imageMutantCount {
		t.Error("no file reached the engine")
	}
}

// imageFarm is a server with an intact model and one for each mutant, which share
// their blobs.
type imageFarm struct {
	t       *testing.T
	user    *user
	url     string
	blobs   []string // paths
	content [][]byte
	good    string // image of the intact model
}

func newImageFarm(t *testing.T) *imageFarm {
	t.Helper()
	library := imageEngine(t)
	u := newUser(t)
	path := func(name string) string { return filepath.Join(u.home, name) }
	if err := errors.Join(diffusiontest.Write(path("m"), path("a")), diffusiontest.WriteLoRA(path("l"))); err != nil {
		t.Fatal(err)
	}
	const from = "FROM %s\nFROM %s\nADAPTER %s\nPARAMETER steps 1\nPARAMETER seed 1"
	u.must("create", "good", "--quiet", "-f", u.write("good.modelfile", fmt.Sprintf(from, path("m"), path("a"), path("l"))))
	f := &imageFarm{t: t}
	for _, name := range []string{"m", "a", "l"} { // other blobs than those of the intact model
		file := readTensorFile(t, path(name))
		if err := os.WriteFile(path(name), file.bytes(0), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f.user = u
	u.must("create", "base", "--quiet", "-f", u.write("base.modelfile", fmt.Sprintf(from, path("m"), path("a"), path("l"))))
	for i := range *imageMutantCount {
		name := fmt.Sprintf("m%d", i)
		u.must("create", name, "--quiet", "-f", u.write("m.modelfile", fmt.Sprintf("FROM base\nPARAMETER seed %d", i)))
	}
	models, err := openStore(u.environment(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	base, err := models.Model(must(store.ParseName("base")))
	if err != nil {
		t.Fatal(err)
	}
	definition, err := modelfile.Read(models, base)
	if err != nil {
		t.Fatal(err)
	}
	for _, blob := range definition.Parts {
		content, err := os.ReadFile(blob)
		if err != nil {
			t.Fatal(err)
		}
		f.blobs, f.content = append(f.blobs, blob), append(f.content, content)
	}
	f.url, _ = u.serve("--imagegen", library, "--keep-alive", "forever")
	f.good = drawnBy(t, f.url, "good", `,"size":"64x64"`)[0]
	return f
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err) // a constant that is valid
	}
	return value
}

// try asks for an image of a model with a mutant, and says how it ended.
func (f *imageFarm) try(i, role int, mutant []byte) string {
	f.t.Helper()
	replaceFile(f.t, f.blobs[role], mutant)
	defer replaceFile(f.t, f.blobs[role], f.content[role])
	_, refused := diffusion.Open(f.blobs)
	reply := post(f.t, f.url+imagesPath, fmt.Sprintf(`{"model":"m%d","prompt":"p","size":"64x64"}`, i))
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	if reply.StatusCode == 200 {
		var images struct {
			Data []struct {
				Image string `json:"b64_json"`
			}
		}
		if err := json.Unmarshal(text, &images); err != nil || len(images.Data) != 1 {
			f.t.Errorf("m%d: no image in %s", i, text)
			return "no image"
		}
		file, _ := base64.StdEncoding.DecodeString(images.Data[0].Image)
		if _, err := png.Decode(bytes.NewReader(file)); err != nil || refused != nil {
			f.t.Errorf("m%d: an image of a refused model (%v), or a broken one: %v", i, refused, err)
		}
		f.user.must("stop", fmt.Sprintf("m%d", i))
		return "drawn"
	}
	var failed struct{ Error struct{ Message string } }
	if err := json.Unmarshal(text, &failed); err != nil || failed.Error.Message == "" || strings.Contains(string(text), f.blobs[role]) {
		f.t.Errorf("m%d: status %d with no error in the style, or with a path: %s", i, reply.StatusCode, text)
	}
	switch {
	case refused != nil:
		return "refused by its header"
	case reply.StatusCode == 502 || strings.Contains(failed.Error.Message, "ended while"):
		return endsProcess
	}
	return "refused by the engine"
}

const endsProcess = "ended its process"

func replaceFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path+".new", content, 0o600), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
}

// tensorFile is a safetensors file in parts.
type tensorFile struct {
	header map[string]any // *tensorEntry, but for the metadata
	data   []byte
}

type tensorEntry struct {
	Type    string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

func readTensorFile(t *testing.T, path string) tensorFile {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parseTensorFile(t, content)
}

func parseTensorFile(t *testing.T, content []byte) tensorFile {
	t.Helper()
	end := 8 + binary.LittleEndian.Uint64(content)
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(content[8:end], &entries); err != nil {
		t.Fatal(err)
	}
	file := tensorFile{header: map[string]any{}, data: slices.Clone(content[end:])}
	for name, text := range entries {
		e := &tensorEntry{}
		if name == "__metadata__" {
			file.header[name] = text
			continue
		}
		if err := json.Unmarshal(text, e); err != nil {
			t.Fatal(err)
		}
		file.header[name] = e
	}
	return file
}

// bytes is the file, with as much filling in its metadata as it needs for a size: a
// blob of another size would not be loaded. 0: some filling.
func (f tensorFile) bytes(size int) []byte {
	const filling = 1 << 14
	fill := func(n int) []byte {
		f.header["__metadata__"] = map[string]string{"filling": strings.Repeat("x", n)}
		text, _ := json.Marshal(f.header) // of strings and numbers
		return text
	}
	text := fill(filling)
	if missing := size - 8 - len(text) - len(f.data); size > 0 {
		text = fill(max(filling+missing, 0))
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, f.data)
}

// names are those of the tensors, sorted.
func (f tensorFile) names() []string {
	names := slices.Sorted(maps.Keys(f.header))
	return slices.DeleteFunc(names, func(n string) bool { return n == "__metadata__" })
}

// mutate makes one to three changes to a file, and says which.
func (f *imageFarm) mutate(role int, random *rand.Rand) (what string, mutant []byte) {
	content := f.content[role]
	switch random.IntN(12) {
	case 0:
		n := random.IntN(len(content))
		return fmt.Sprintf("cut to %d bytes", n), content[:n]
	case 1:
		mutant = slices.Clone(content)
		length := 8 + int(binary.LittleEndian.Uint64(content))
		for range 1 + random.IntN(4) {
			mutant[random.IntN(length)] ^= 1 << random.IntN(8)
		}
		return "bits of the header", mutant
	case 2:
		other := (role + 1 + random.IntN(len(f.content)-1)) % len(f.content)
		return fmt.Sprintf("file %d in its place", other), f.content[other]
	}
	file := parseTensorFile(f.t, content)
	var done []string
	for range 1 + random.IntN(3) {
		done = append(done, file.change(random))
	}
	return strings.Join(done, "; "), file.bytes(len(content))
}
