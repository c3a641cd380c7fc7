package modelfile

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
)

// weightFile is a GGUF file, possibly split into shards.
type weightFile struct {
	path string
	head *gguf.File
}

// otherFormats are extensions of weights that llama.cpp cannot read.
var otherFormats = []string{".safetensors", ".bin", ".pth", ".pt", ".ckpt", ".h5", ".msgpack"}

// openWeights opens a GGUF file, or the GGUF files of a directory.
func openWeights(path string) ([]weightFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, reason(err)
	}
	if info.IsDir() {
		return openFolder(path)
	}
	head, err := gguf.Open(path)
	if err != nil {
		if slices.Contains(otherFormats, strings.ToLower(filepath.Ext(path))) && !isGGUF(path) {
			return nil, conversion(filepath.Dir(path))
		}
		return nil, err
	}
	return []weightFile{{path, head}}, nil
}

// holdsWeights reports whether a directory may contain a model.
func holdsWeights(directory string) bool {
	entries, err := os.ReadDir(directory)
	return err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		end := strings.ToLower(filepath.Ext(e.Name()))
		return end == ".gguf" || slices.Contains(otherFormats, end)
	})
}

func isGGUF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	magic := make([]byte, len(gguf.Magic))
	_, err = f.Read(magic)
	return err == nil && string(magic) == gguf.Magic
}

var laterPart = regexp.MustCompile(`-(\d{5})-of-\d{5}\.gguf$`)

// openFolder opens the only model of a directory, and its projector. With
// several models the user has to choose.
func openFolder(directory string) ([]weightFile, error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, reason(err)
	}
	var names []string
	other := false
	for _, e := range entries {
		end := strings.ToLower(filepath.Ext(e.Name()))
		if m := laterPart.FindStringSubmatch(e.Name()); end == ".gguf" && (m == nil || m[1] == "00001") {
			names = append(names, e.Name())
		}
		other = other || slices.Contains(otherFormats, end)
	}
	if len(names) == 0 {
		if other {
			return nil, conversion(directory)
		}
		return nil, fmt.Errorf("the directory has no GGUF file")
	}
	var files []weightFile
	models := 0
	for _, name := range names {
		path := filepath.Join(directory, name)
		head, err := gguf.Open(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if !isProjector(head) {
			models++
		}
		files = append(files, weightFile{path, head})
	}
	if models > 1 || len(files)-models > 1 {
		return nil, fmt.Errorf("the directory has several GGUF files; name one of %s", strings.Join(names, ", "))
	}
	return files, nil
}

// conversion is the error for weights in another format, with the command that
// converts them.
func conversion(directory string) error {
	script := "convert_hf_to_gguf.py"
	if _, err := os.Stat(filepath.Join(directory, "adapter_config.json")); err == nil {
		script = "convert_lora_to_gguf.py"
	}
	out := filepath.Join(directory, filepath.Base(directory)+".gguf")
	return fmt.Errorf("the weights are not in GGUF format; convert them with llama.cpp's script, and use its output: python3 %s %s --outfile %s",
		script, shellWord(directory), shellWord(out))
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// shellWord quotes a path for a shell.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
