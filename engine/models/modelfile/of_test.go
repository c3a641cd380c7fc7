package modelfile

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine/models/store"
)

// again makes a model of the file that Of gives, as text.
func (b *bench) again(m *store.Model) (*store.Model, string) {
	b.t.Helper()
	f, err := Of(b.store, m)
	if err != nil {
		b.t.Fatal(err)
	}
	text := f.String()
	return b.create("again", text), text
}

func TestOf(t *testing.T) {
	b := newBench(t)
	m := b.create("org/m:tag", "FROM mmproj.gguf\nFROM m.gguf\nADAPTER lora.gguf\nPARAMETER num_ctx 4096\nPARAMETER stop \"<a> \"\nPARAMETER stop b\nSYSTEM \"\"\"x\ny\"\"\"\nLICENSE l\nMESSAGE user u\nREQUIRES 0.1.0\nTEMPLATE {{ .Prompt }}")
	blob := func(mediaType string) string {
		for _, l := range m.Manifest.Layers {
			if l.MediaType == mediaType {
				return b.store.BlobPath(l.Digest)
			}
		}
		return ""
	}
	second, text := b.again(m)
	want := `# This file recreates the model on this machine. To build on the model, replace the FROM lines by:
# FROM org/m:tag
FROM ` + blob(store.MediaTypeModel) + `
FROM ` + blob(store.MediaTypeProjector) + `
ADAPTER ` + blob(store.MediaTypeAdapter) + `
PARAMETER num_ctx 4096
PARAMETER stop "<a> "
PARAMETER stop b
TEMPLATE {{ .Prompt }}
SYSTEM """x
y"""
MESSAGE user u
REQUIRES 0.1.0
LICENSE l
`
	if diff := cmp.Diff(want, text); diff != "" {
		t.Error(diff)
	}
	if second.Digest != m.Digest {
		t.Errorf("created again, the model has digest %s and not %s", second.Digest, m.Digest)
	}
	for _, p := range b.progress[len(b.progress)-2:] {
		if strings.HasPrefix(p.Status, "copying") {
			t.Errorf("a blob of the store is copied: %+v", p)
		}
	}
}

func TestOfRemote(t *testing.T) {
	b := newBench(t)
	m := b.create("m", "FROM http://localhost:8000/v1\nPARAMETER model \"a b\"\nSYSTEM s")
	second, text := b.again(m)
	if !strings.Contains(text, "\nFROM http://localhost:8000/v1\n") || !strings.Contains(text, "\nPARAMETER model a b\n") {
		t.Error(text)
	}
	if second.Digest != m.Digest {
		t.Errorf("digest %s, not %s", second.Digest, m.Digest)
	}
}

// TestOfAnything makes models of chance, and each again of what Of says.
func TestOfAnything(t *testing.T) {
	b := newBench(t)
	b.create("base", "FROM m.gguf\nSYSTEM base\nLICENSE base\nPARAMETER top_k 4\nMESSAGE user base")
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 50 {
		f := chance(r)
		m, err := Create(t.Context(), b.source(), b.name("m"), f)
		if err != nil {
			t.Fatalf("%d: %s: %v", n, f, err)
		}
		second, text := b.again(m)
		if second.Digest != m.Digest {
			t.Fatalf("%d: of\n%s\nthere is\n%s\n%s", n, f, text, cmp.Diff(b.content(m), b.content(second)))
		}
	}
}

// chance makes a file of values that are hard to write.
func chance(r *rand.Rand) *File {
	pieces := []string{"a", " ", "\n", `"`, `"""`, "\"\"\"\n", "END", "\r\n", "\r", "ä", "<&>", "{{ .Prompt }}", "# c", "FROM x", "\u2028", "\x00", "\t", "<<END\n"}
	text := func() string {
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	f := file(From, "", []string{"m.gguf", "base", "./m.gguf"}[r.IntN(3)])
	for range r.IntN(8) {
		switch r.IntN(9) {
		case 0:
			f.add(System, "", text())
		case 1:
			f.add(License, "", text())
		case 2:
			f.add(Message, roles[r.IntN(3)], text())
		case 3:
			f.add(Parameter, "stop", text()+"x")
		case 4:
			f.add(Parameter, "temperature", fmt.Sprint(r.Float64()*2))
		case 5:
			f.add(Parameter, "seed", fmt.Sprint(r.Int64()-1<<62))
		case 6:
			f.add(Parameter, "use_mlock", "true")
		case 7:
			f.add(Adapter, "", "lora.gguf")
		case 8:
			f.add(Template, "", text()+"{{ .Prompt }}"+text())
		}
	}
	return f
}

func (f *File) add(name, key, value string) {
	f.Instructions = append(f.Instructions, Instruction{Name: name, Key: key, Value: value})
}
