package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// programs makes commands of code.
type programs struct {
	folder    string
	goProgram string // all examples in Go; its argument says which
}

// Folders of the installations, which other suites make.
var (
	pythons = map[string]string{"": "../../.cache/sdk-python", "langchain": "../../.cache/sdk-langchain", "litellm": "../../.cache/sdk-litellm"}
	nodes   = map[string]string{"": "node", "frameworks": "frameworks/node"}
	agents  = "agents/node_modules/.bin"
)

// command returns the command that runs an example.
func (p *programs) command(ctx context.Context, e example, home, server string) (*exec.Cmd, error) {
	switch e.language {
	case "go":
		cmd := exec.CommandContext(ctx, p.goProgram, strconv.Itoa(e.line), e.page)
		cmd.Env = append(os.Environ(), "DIGLOT_EXAMPLES="+server)
		return cmd, nil
	case "python":
		target, err := installed(pythons, e)
		if err != nil {
			return nil, err
		}
		file := filepath.Join(home, "example.py")
		cmd := exec.CommandContext(ctx, "python3", file)
		cmd.Env = append(os.Environ(), "PYTHONPATH="+target, "PYTHONDONTWRITEBYTECODE=1", "LITELLM_LOCAL_MODEL_COST_MAP=True")
		return cmd, os.WriteFile(file, []byte(e.code), 0o644)
	case "typescript":
		target, err := installed(nodes, e)
		if err != nil {
			return nil, err
		}
		// Modules are looked for in the folders above the file.
		folder := filepath.Join(target, "node_modules", ".examples")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, err
		}
		file := filepath.Join(folder, filepath.Base(home)+".mjs")
		return exec.CommandContext(ctx, "node", file), os.WriteFile(file, []byte(e.code), 0o644)
	}
	path := os.Getenv("PATH")
	if e.needs == "agents" {
		bin, err := filepath.Abs(agents)
		if err != nil {
			return nil, err
		}
		path = bin + string(os.PathListSeparator) + path
	}
	cmd := exec.CommandContext(ctx, "bash", "-euc", e.code)
	cmd.Dir = home
	cmd.Env = []string{"PATH=" + path, "HOME=" + home}
	return cmd, nil
}

// installed returns the folder of the installation that an example needs.
func installed(folders map[string]string, e example) (string, error) {
	folder, ok := folders[e.needs]
	if !ok {
		return "", fmt.Errorf("there is no installation %q for %s", e.needs, e.language)
	}
	return filepath.Abs(folder)
}

// buildGo builds one program of all examples in Go: each is a file whose main has a name of
// its own. It sees the address that it is given in place of the one on the page.
func (p *programs) buildGo(ctx context.Context, all []example) error {
	var table strings.Builder
	files := []string{"build", "-o", p.goProgram}
	add := func(name, text string) error {
		file := filepath.Join(p.folder, name)
		files = append(files, file)
		return os.WriteFile(file, []byte(text), 0o644)
	}
	for i, e := range all {
		if e.language != "go" {
			continue
		}
		name := fmt.Sprintf("example%d", i)
		text := strings.Replace(e.code, "func main() {", "func "+name+"() {", 1)
		text = strings.ReplaceAll(text, strconv.Quote(address), "serverAddress")
		text = strings.ReplaceAll(text, strconv.Quote(address+"/v1"), `serverAddress + "/v1"`)
		if err := add(name+".go", text); err != nil {
			return err
		}
		fmt.Fprintf(&table, "\t%q: %s,\n", fmt.Sprintf("%d %s", e.line, e.page), name)
	}
	main := "package main\n\nimport \"os\"\n\nvar serverAddress = os.Getenv(\"DIGLOT_EXAMPLES\")\n\n" +
		"func main() { map[string]func(){\n" + table.String() + "}[os.Args[1]+\" \"+os.Args[2]]() }\n"
	if err := add("main.go", main); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", files...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the examples in Go: %w\n%s", err, out)
	}
	return nil
}

// processType is what the code uses of Node, whose types are not installed.
const processType = "declare const process: { stdout: { write(text: string): void } };\n"

// checkTypes holds the code in TypeScript to the types of the vendors' SDKs.
func (p *programs) checkTypes(ctx context.Context, all []example) error {
	target, err := installed(nodes, example{language: "typescript"})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(target, "node_modules", ".examples"), 0o755); err != nil {
		return err
	}
	folder, err := os.MkdirTemp(filepath.Join(target, "node_modules", ".examples"), "types-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	arguments := []string{"--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2023"}
	add := func(name, text string) error {
		file := filepath.Join(folder, name)
		arguments = append(arguments, file)
		return os.WriteFile(file, []byte(text), 0o644)
	}
	if err := add("process.d.ts", processType); err != nil {
		return err
	}
	notInNames := strings.NewReplacer("/", "-", ".", "-")
	for _, e := range all {
		if e.language != "typescript" || e.needs != "" {
			continue
		}
		if err := add(fmt.Sprintf("%s-%d.mts", notInNames.Replace(e.page), e.line), e.code); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, filepath.Join(target, "node_modules", ".bin", "tsc"), arguments...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}
