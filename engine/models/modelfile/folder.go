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

// weightFile is a GGUF file, and the parts that belong to it.
type weightFile struct {
	path string
	head *gguf.File
}

// otherFormats are the ends of names of weights that llama.cpp cannot read.
var otherFormats = []string{".safetensors", ".bin", ".pth", ".pt", ".ckpt", ".h5", ".msgpack"}

// openWeights opens what a path names: a GGUF file, or those in a folder.
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

// holdsWeights reports whether a folder has files that may be a model's.
func holdsWeights(folder string) bool {
	entries, err := os.ReadDir(folder)
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

// openFolder takes the one model in a folder, and its projector. Where there is
// more, the choice is the user's.
func openFolder(folder string) ([]weightFile, error) {
	entries, err := os.ReadDir(folder)
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
			return nil, conversion(folder)
		}
		return nil, fmt.Errorf("there is no GGUF file in the folder")
	}
	var files []weightFile
	models := 0
	for _, name := range names {
		path := filepath.Join(folder, name)
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
		return nil, fmt.Errorf("there are several GGUF files in the folder; name one of %s", strings.Join(names, ", "))
	}
	return files, nil
}

// conversion refuses weights in another format, with the command that makes a
// GGUF file of them.
func conversion(folder string) error {
	script := "convert_hf_to_gguf.py"
	if _, err := os.Stat(filepath.Join(folder, "adapter_config.json")); err == nil {
		script = "convert_lora_to_gguf.py"
	}
	out := filepath.Join(folder, filepath.Base(folder)+".gguf")
	return fmt.Errorf("the weights are not in a GGUF file; make one with the script of llama.cpp, and name it: python3 %s %s --outfile %s",
		script, shellWord(folder), shellWord(out))
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// shellWord writes a path so that a shell takes it as one word.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
