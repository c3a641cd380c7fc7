package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine/gguf"
)

// text writes a text model of some tokens with two numbers each.
func text(t *testing.T, architecture string, tokens ...string) string {
	t.Helper()
	f := &gguf.Draft{}
	f.Set("general.architecture", architecture)
	f.Set("general.name", "small")
	f.Set("tokenizer.ggml.tokens", tokens)
	var numbers []float32
	for i := range tokens {
		numbers = append(numbers, float32(i), float32(-i))
	}
	add(f, "before", []float32{1, 2, 3}, 3)
	add(f, "token_embd.weight", numbers, 2, len(tokens))
	path := filepath.Join(t.TempDir(), "text.gguf")
	if err := f.Write(path); err != nil {
		t.Fatal(err)
	}
	return path
}

var words = []string{"<s>", "▁black", "red", "Ġgreen", "▁blue", "yellow", "purple", "cyan", "white", "Ġred"}

func TestEmbedding(t *testing.T) {
	for _, tt := range []struct {
		name, architecture string
		words              []string
		want               []float32
	}{
		{"a word in the middle of a text first", "llama", []string{"red"}, []float32{9, -9}},
		{"another mark of a space", "llama", []string{"blue"}, []float32{4, -4}},
		{"no space", "llama", []string{"cyan"}, []float32{7, -7}},
		{"the second word", "llama", []string{"magenta", "purple"}, []float32{6, -6}},
		{"scaled", "gemma3", []string{"blue"}, []float32{4 * math.Sqrt2, -4 * math.Sqrt2}},
		{"none", "llama", []string{"mauve"}, nil},
	} {
		model, err := openText(text(t, tt.architecture, words...))
		if err != nil {
			t.Fatal(err)
		}
		defer model.Close()
		got, err := model.embedding(tt.words)
		if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != (tt.want != nil) {
			t.Errorf("%s: error %v, %s", tt.name, err, diff)
		}
	}
}

// TestRun reads back what it writes, as far as it reads files.
func TestRun(t *testing.T) {
	out := filepath.Join(t.TempDir(), "colours.gguf")
	if err := run(text(t, "llama", words...), out); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openText(out); err == nil || !strings.Contains(err.Error(), "no token embeddings") {
		t.Errorf("error %v: the file does not read to its end", err)
	}
	for _, want := range []string{"clip.has_vision_encoder", "v.patch_embd.weight", "mm.2.weight", "colours for small"} {
		if !strings.Contains(string(written), want) {
			t.Errorf("the file lacks %s", want)
		}
	}
	again := filepath.Join(t.TempDir(), "again.gguf")
	if err := run(text(t, "llama", words...), again); err != nil {
		t.Fatal(err)
	}
	if second, _ := os.ReadFile(again); string(second) != string(written) {
		t.Error("the same model gives another projector")
	}
}

func TestRefused(t *testing.T) {
	whole, err := os.ReadFile(text(t, "llama", words...))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, data, want string }{
		{"another kind of file", "PK\x03\x04 and so on", "not a GGUF file"},
		{"cut", string(whole[:100]), "the file is truncated"},
		{"no colours", string(must(os.ReadFile(text(t, "llama", "a", "b")))), "none of the words"},
	} {
		path := filepath.Join(t.TempDir(), "text.gguf")
		if err := os.WriteFile(path, []byte(tt.data), 0o600); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "out.gguf")
		if err := run(path, out); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
		if left, _ := filepath.Glob(out + "*"); left != nil {
			t.Errorf("%s: left %v", tt.name, left)
		}
	}
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err) // the test wrote the file itself
	}
	return data
}

func TestCodings(t *testing.T) {
	scale := []byte{0x00, 0x3c} // 1 as a half
	bytes := func(parts ...[]byte) []byte {
		var all []byte
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	repeat := func(n int, b byte) []byte { return []byte(strings.Repeat(string([]byte{b}), n)) }
	for _, tt := range []struct {
		name  string
		kind  gguf.Type
		block []byte
		at    map[int]float32
	}{
		{"F32", 0, []byte{0, 0, 0x80, 0x3f}, map[int]float32{0: 1}},
		{"F16", 1, []byte{0x00, 0xc0}, map[int]float32{0: -2}},
		{"F16, small", 1, []byte{0x01, 0x00}, map[int]float32{0: 0x1p-24}},
		{"Q5_0", 6, bytes(scale, []byte{0x01, 0x00, 0x00, 0x80}, repeat(16, 0x21)), map[int]float32{0: 1, 1: 1 - 16, 16: 2 - 16, 31: 2}},
		{"Q8_0", 8, bytes(scale, repeat(31, 0xff), []byte{127}), map[int]float32{0: -1, 30: -1, 31: 127}},
	} {
		c := codings[tt.kind]
		if len(tt.block) != c.bytes {
			t.Fatalf("%s: the block has %d bytes, want %d", tt.name, len(tt.block), c.bytes)
		}
		got := c.unpack(nil, tt.block)
		if len(got) != c.numbers {
			t.Errorf("%s: %d numbers, want %d", tt.name, len(got), c.numbers)
		}
		for i, want := range tt.at {
			if got[i] != want {
				t.Errorf("%s: number %d is %v, want %v", tt.name, i, got[i], want)
			}
		}
	}
}
