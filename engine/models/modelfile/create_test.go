package modelfile

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine/models/store"
)

func TestCreate(t *testing.T) {
	b := newBench(t)
	m := b.create("all", `# everything
MESSAGE user hi
LICENSE one
LICENSE two
REQUIRES v0.14.0
PARAMETER stop "<a>"
PARAMETER stop b
PARAMETER num_ctx 2048
PARAMETER temperature 0.70
PARAMETER use_mmap true
TEMPLATE """{{ .Prompt }}
"""
SYSTEM You are a <test>.
ADAPTER ./lora.gguf
FROM mmproj.gguf
FROM ~/m.gguf
MESSAGE assistant hello
`)
	want := []string{
		"model GGUF", "projector GGUF", "adapter GGUF", "template {{ .Prompt }}\n", "system You are a <test>.", "license one", "license two",
		`params {"num_ctx":2048,"stop":["\u003ca\u003e","b"],"temperature":0.7,"use_mmap":true}` + "\n",
		`messages [{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]` + "\n",
	}
	if diff := cmp.Diff(want, b.content(m)); diff != "" {
		t.Errorf("layers: %s", diff)
	}
	raw, err := b.store.ReadBlob(m.Manifest.Config, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var digests []string
	for _, l := range m.Manifest.Layers {
		digests = append(digests, l.Digest.String())
	}
	list, _ := json.Marshal(digests)
	config := `{"model_format":"gguf","model_family":"llama","model_families":["llama","clip"],"model_type":"376","file_type":"Q4_K_M","requires":"0.14.0",` +
		`"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":` + string(list) + "}}\n"
	if diff := cmp.Diff(config, string(raw)); diff != "" {
		t.Errorf("config: %s", diff)
	}
	if diff := cmp.Diff([]string{"PARAMETER use_mmap has no effect: memory placement is decided when the model is loaded."}, b.warnings); diff != "" {
		t.Errorf("warnings: %s", diff)
	}
	if len(b.progress) == 0 || b.progress[len(b.progress)-1].Status != "writing manifest" || b.progress[0].Status != "copying mmproj.gguf" {
		t.Errorf("progress: %+v", b.progress)
	}
	d, err := Read(b.store, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{d.Model, d.Projector, d.Adapters[0], d.Template} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if d.System != "You are a <test>." || *d.Parameters.Context != 2048 || *d.Parameters.Sampling.Temperature != 0.7 || len(d.Messages) != 2 || d.Config.Requires != "0.14.0" {
		t.Errorf("definition: %+v", d)
	}
}

// TestCreateAgain holds that the same file is the same manifest, whatever else
// there is.
func TestCreateAgain(t *testing.T) {
	const text = "FROM m.gguf\nPARAMETER seed 1\nPARAMETER top_k 2\nSYSTEM s\nLICENSE l\n"
	b, other := newBench(t), newBench(t)
	first := b.create("a", text)
	second := b.create("b", "# another comment\n"+text)
	third := other.create("c", text)
	if first.Digest != second.Digest || first.Digest != third.Digest {
		t.Errorf("digests %s, %s, %s", first.Digest, second.Digest, third.Digest)
	}
}

func TestInherit(t *testing.T) {
	b := newBench(t)
	b.create("base", "FROM m.gguf\nTEMPLATE t {{ .Prompt }}\nSYSTEM s\nLICENSE l\nPARAMETER num_ctx 1024\nPARAMETER stop a\nPARAMETER seed 3\nMESSAGE user u\nREQUIRES 0.5.0\nRENDERER r\nPARSER p")
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"nothing new", "FROM base", []string{"model GGUF", "template t {{ .Prompt }}", "system s", "license l", `params {"num_ctx":1024,"seed":3,"stop":["a"]}` + "\n", `messages [{"role":"user","content":"u"}]` + "\n"}},
		{"all new", "FROM base\nTEMPLATE T {{ .Prompt }}\nSYSTEM S\nLICENSE L\nPARAMETER num_ctx 2\nPARAMETER stop b\nPARAMETER min_p 0\nMESSAGE assistant A\nADAPTER lora.gguf",
			[]string{"model GGUF", "adapter GGUF", "template T {{ .Prompt }}", "system S", "license l", "license L", `params {"min_p":0,"num_ctx":2,"seed":3,"stop":["b"]}` + "\n", `messages [{"role":"assistant","content":"A"}]` + "\n"}},
		{"a projector too", "FROM base\nFROM mmproj.gguf\nSYSTEM \"\"\nLICENSE l",
			[]string{"model GGUF", "projector GGUF", "template t {{ .Prompt }}", "system s", "license l", `params {"num_ctx":1024,"seed":3,"stop":["a"]}` + "\n", `messages [{"role":"user","content":"u"}]` + "\n"}},
	} {
		m := b.create("derived", tt.text)
		if diff := cmp.Diff(tt.want, b.content(m)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		c, err := b.store.Config(m)
		if err != nil {
			t.Fatal(err)
		}
		if c.Requires != "0.5.0" || c.Renderer != "r" || c.Parser != "p" || c.ModelFamily != "llama" || c.FileType != "Q4_K_M" {
			t.Errorf("%s: config %+v", tt.name, c)
		}
	}
}

func TestRemote(t *testing.T) {
	b := newBench(t)
	m := b.create("cloud", "FROM https://Host.example:8443/v1/\nPARAMETER model org/big\nPARAMETER temperature 0\nPARAMETER num_ctx 4\nSYSTEM s")
	d, err := Read(b.store, m)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Remote{URL: "https://host.example:8443/v1", Model: "org/big"}, d.Remote); diff != "" || d.Model != "" || d.System != "s" || *d.Parameters.Sampling.Temperature != 0 {
		t.Errorf("definition %+v %s", d, diff)
	}
	if len(b.warnings) != 1 || !strings.Contains(b.warnings[0], "num_ctx has no effect: the remote server") {
		t.Errorf("warnings %q", b.warnings)
	}
	other := b.create("other", "FROM cloud\nPARAMETER model small\nPARAMETER affinity_header X-User-ID\nMESSAGE system t\nMESSAGE user u\nMESSAGE assistant a")
	derived, err := Read(b.store, other)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Remote{URL: "https://host.example:8443/v1", Model: "small", AffinityHeader: "X-User-ID", Examples: 2}, derived.Remote); diff != "" || derived.System != "s" {
		t.Errorf("derived %+v %s", derived, diff)
	}
	if again, text := b.again(other); again.Digest != other.Digest {
		t.Errorf("another model is created by\n%s", text)
	}
}

func TestPull(t *testing.T) {
	b := newBench(t)
	src := b.source()
	src.Pull = func(ctx context.Context, n store.Name) error {
		b.pulled = append(b.pulled, n.String())
		_, err := Create(ctx, b.source(), n, b.parse("FROM m.gguf\nSYSTEM pulled"))
		return err
	}
	for range 2 {
		m, err := Create(t.Context(), src, b.name("mine"), b.parse("FROM org/far:7b"))
		if err != nil {
			t.Fatal(err)
		}
		if d, err := Read(b.store, m); err != nil || d.System != "pulled" {
			t.Errorf("definition %+v, %v", d, err)
		}
	}
	if diff := cmp.Diff([]string{"org/far:7b"}, b.pulled); diff != "" {
		t.Errorf("pulled once: %s", diff)
	}
	refused := errors.New("no such model there")
	src.Pull = func(context.Context, store.Name) error { return refused }
	if _, err := Create(t.Context(), src, b.name("x"), b.parse("\nFROM gone")); !errors.Is(err, refused) || !strings.Contains(err.Error(), "line 2: FROM gone: gone is not on this machine and could not be pulled: no such model there") {
		t.Errorf("a pull that fails: %v", err)
	}
	if _, err := Create(t.Context(), src, b.name("x"), b.parse("FROM hf.co/org/repo:file.gguf")); !errors.Is(err, refused) {
		t.Errorf("a tag that is the name of a file: %v", err)
	}
	if _, err := b.try("x", "FROM gone"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("nobody to pull: %v", err)
	}
}

func TestRequires(t *testing.T) {
	for _, tt := range []struct {
		version, requires string
		warns             bool
	}{
		{"0.3.0", "0.3.0", false}, {"v0.3.0", "0.3.1", true}, {"0.10.0", "0.9.9", false}, {"0.9", "0.10.0", true}, {"1.0.0-rc1", "1.0.0", true}, {"1.0.0", "1.0.0-rc1", false},
		{"(devel)", "9.0.0", false}, {"", "9.0.0", false}, {"v0.0.0-20261128091243-0123456789ab", "0.1.0", false}, {"0.1.0", "", false},
	} {
		b := newBench(t)
		src := b.source()
		src.Version = tt.version
		text := "FROM m.gguf"
		if tt.requires != "" {
			text += "\nREQUIRES " + tt.requires
		}
		if _, err := Create(t.Context(), src, b.name("m"), b.parse(text)); err != nil {
			t.Fatal(err)
		}
		if got := len(b.warnings) == 1 && strings.Contains(b.warnings[0], "is newer than this version"); got != tt.warns {
			t.Errorf("version %q, requires %q: warnings %q", tt.version, tt.requires, b.warnings)
		}
	}
}

// TestRequiresOfABase is one that may count the versions of Ollama.
func TestRequiresOfABase(t *testing.T) {
	b := newBench(t)
	b.create("base", "FROM m.gguf\nREQUIRES 0.14.0")
	src := b.source()
	src.Version = "0.3.0"
	m, err := Create(t.Context(), src, b.name("m"), b.parse("FROM base"))
	if err != nil {
		t.Fatal(err)
	}
	if d, err := Read(b.store, m); err != nil || d.Config.Requires != "0.14.0" || len(b.warnings) > 0 {
		t.Errorf("it requires %q, error %v, warnings %q", d.Config.Requires, err, b.warnings)
	}
}

func TestFolder(t *testing.T) {
	b := newBench(t)
	b.file("one/m.gguf", llama().Bytes())
	b.file("one/README.md", nil)
	b.file("two/m.gguf", llama().Bytes())
	b.file("two/mmproj-m.gguf", projector().Bytes())
	b.file("two/m.safetensors", nil)
	b.file("three/m.gguf", llama().Bytes())
	b.file("three/sees.gguf", draft([]any{"general.architecture", "mllama", "mllama.vision.block_count", uint32(3)}, floats("v", 3, 2)).Bytes()) // as Ollama wrote some
	b.file("base/README.md", nil)
	b.create("base", "FROM m.gguf\nSYSTEM s")
	for directory, want := range map[string]int{"one": 1, "./two": 2, "base": 2} {
		if m := b.create("m", "FROM "+directory); len(m.Manifest.Layers) != want {
			t.Errorf("%s: %d layers, not %d", directory, len(m.Manifest.Layers), want)
		}
	}
	if _, err := b.try("m", "FROM three"); err == nil || !strings.Contains(err.Error(), `general.architecture is "mllama"`) {
		t.Errorf("a projector that llama.cpp cannot read: error %v", err)
	}
}

// TestCreateUnparsed has a file that a program made.
func TestCreateUnparsed(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct {
		file *File
		want string
	}{
		{&File{}, "missing FROM line"},
		{file(From, "", "m.gguf", Message, "tool", "x"), `the role of a MESSAGE is system, user, assistant, not "tool"`},
		{file(From, "", "m.gguf", Parameter, strings.Repeat("x", 1<<20), "1"), `PARAMETER "xxx`},
		{file(From, "", "m.gguf", Parameter, "\x1b[31m", "1"), `PARAMETER "\x1b[31m" is not a name`},
		{file(From, "", "gone"), "FROM gone: model gone"},
	} {
		_, err := Create(t.Context(), b.source(), b.name("m"), tt.file)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}

func TestCreateErrors(t *testing.T) {
	b := newBench(t)
	b.file("many/a.gguf", llama().Bytes())
	b.file("many/b.gguf", llama().Bytes())
	b.file("st/model.safetensors", nil)
	b.file("it's/pytorch_model.bin", nil)
	b.file("peft/adapter_model.safetensors", nil)
	b.file("peft/adapter_config.json", nil)
	b.file("none/x.txt", nil)
	b.file("other.gguf", lora("qwen2").Bytes())
	b.file("cut.gguf", llama().Bytes()[:150])
	b.file("text.gguf", []byte("hello, this is a text"))
	st, its, peft := filepath.Join(b.dir, "st"), filepath.Join(b.dir, "it's"), filepath.Join(b.dir, "peft")
	for _, tt := range []struct{ name, text, want string }{
		{"no such file", "\nFROM ./x.gguf", `line 2: FROM "./x.gguf": no such file`},
		{"no such file without dots", "FROM x.gguf", `line 1: FROM "x.gguf": no such file`},
		{"neither a file nor a name", "FROM a b", `"a b": no such file, and not a model name`},
		{"cut file", "FROM cut.gguf", "the file is truncated"},
		{"a text", "FROM text.gguf", "not a GGUF file"},
		{"nobody's home", "FROM ~other/x", "only ~/ is supported"},
		{"several", "FROM many", "name one of a.gguf, b.gguf"},
		{"nothing", "FROM ./none", "the directory has no GGUF file"},
		{"safetensors", "FROM ./st", "python3 convert_hf_to_gguf.py " + st + " --outfile " + filepath.Join(st, "st.gguf")},
		{"one file of them", "FROM st/model.safetensors", "python3 convert_hf_to_gguf.py " + st + " --outfile "},
		{"pytorch, and a name for a shell", "FROM it's", `python3 convert_hf_to_gguf.py '` + strings.ReplaceAll(its, "'", `'\''`) + `' --outfile '`},
		{"an adapter in another format", "FROM m.gguf\nADAPTER peft", "line 2: ADAPTER peft: the weights are not in GGUF format; convert them with llama.cpp's script, and use its output: python3 convert_lora_to_gguf.py " + peft},
		{"an adapter for a model", "FROM lora.gguf", "use ADAPTER for it"},
		{"a model for an adapter", "FROM m.gguf\nADAPTER m.gguf", "not a LoRA adapter"},
		{"another's adapter", "FROM m.gguf\nADAPTER other.gguf", `architecture "qwen2", and this model is "llama"`},
		{"no adapter", "FROM m.gguf\nADAPTER gone.gguf", "line 2: ADAPTER gone.gguf: no such file"},
		{"two models", "FROM m.gguf\nFROM m.gguf", "line 2: FROM names 2 models"},
		{"two projectors", "FROM m.gguf\nFROM mmproj.gguf\nFROM ./mmproj.gguf", "2 projectors"},
		{"a projector alone", "FROM mmproj.gguf", "names only a projector"},
		{"remote without a name", "FROM https://h/v1", "PARAMETER model NAME"},
		{"remote and here", "FROM m.gguf\nFROM https://h/v1", "only one FROM line"},
		{"remote and an adapter", "FROM https://h/v1\nPARAMETER model m\nADAPTER lora.gguf", "ADAPTER cannot be used with a remote model"},
		{"remote and a template", "FROM https://h/v1\nPARAMETER model m\nTEMPLATE {{ .Prompt }}", "its own chat template"},
		{"a name elsewhere for a model here", "FROM m.gguf\nPARAMETER model m", "requires FROM https://HOST/v1"},
		{"a header for a model here", "FROM m.gguf\nPARAMETER affinity_header X-A", "PARAMETER affinity_header is for a remote model"},
		{"a password", "FROM https://u:p@h/v1\nPARAMETER model m", "diglot login h"},
		{"a query", "FROM https://h/v1?key=1\nPARAMETER model m", "diglot login h"},
		{"a fragment", "FROM https://h/v1#x\nPARAMETER model m", "contains ? or #"},
		{"another scheme", "FROM ftp://h/v1", "is not a URL such as https://host/v1"},
		{"no host", "FROM https:///v1", "is not a URL"},
		{"a host that a shell would read", "FROM https://$(id)/v1\nPARAMETER model m", `"https://$(id)/v1" is not a URL`},
		{"a password for such a host", "FROM https://u:secret@a;id/v1\nPARAMETER model m", `"https://u:xxxxx@a;id/v1" is not a URL`},
		{"a key for such a host", "FROM https://a&id/v1\nPARAMETER api_key x", "run: diglot login HOST"},
		{"letters that net names do not have", "FROM https://a\u202eb/v1\nPARAMETER model m", `"https://a%E2%80%AEb/v1" is not a URL`},
		{"no port", "FROM https://h:99999/v1\nPARAMETER model m", "is not a URL"},
		{"a page", "FROM https://huggingface.co/org/repo", "FROM hf.co/org/repo"},
		{"a key", "FROM https://u@h:1/v1\nPARAMETER api_key x", "line 2: PARAMETER api_key is refused: a Modelfile is pushed with its model and must not contain keys; run: diglot login h:1"},
		{"another way to write it", "FROM m.gguf\nPARAMETER openai_api_key x", "diglot login HOST"},
		{"no secret", "FROM m.gguf\nPARAMETER monkey_tokens 1", "is unknown"},
		{"escapes for a terminal", "FROM \x1b[31mx", `FROM "\x1b[31mx" contains a control character`},
		{"a key and no host", "FROM m.gguf\nPARAMETER key_env X", "diglot login HOST"},
		{"a wrong name", "FROM m.gguf\nPARAMETER temprature 1", "PARAMETER temprature is unknown; did you mean temperature?"},
		{"another's name", "FROM m.gguf\nPARAMETER max_tokens 1", "use num_predict"},
		{"no near name", "FROM m.gguf\nPARAMETER zzzzzzzz 1", "is unknown; known are affinity_header, cfg_scale, draft, frequency_penalty, height, lora_strength, min_p"},
		{"a wrong template", "FROM m.gguf\nTEMPLATE \"\"\"{{ .Prompt }}\n{{ if }}\n\"\"\"", "line 2: TEMPLATE: line 2 of it: missing value for if"},
		{"a wrong template in Jinja", "FROM m.gguf\nTEMPLATE {% for m in messages %}", "line 2: TEMPLATE: "},
		{"a template that shows nothing", "FROM m.gguf\nTEMPLATE hello", "does not show what the user says"},
		{"no version", "FROM m.gguf\nREQUIRES new", `REQUIRES needs a version such as 0.14.0, not "new"`},
		{"many licenses", "FROM m.gguf\n" + strings.Repeat("LICENSE x\n", maxLicenses+1), "more than 100 LICENSE lines"},
		{"a long text", "FROM m.gguf\nSYSTEM " + strings.Repeat("x", maxText+1), "the limit is 1048576"},
	} {
		m, err := b.try("m", tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if m != nil {
			t.Errorf("%s: there is a model: %v", tt.name, m)
		}
	}
	if all, err := b.store.List(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("models are left: %v, %v", all, err)
	}
}

// TestCreateLeavesNothing lets Create fail after it copied files.
func TestCreateLeavesNothing(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	src := b.source()
	src.Progress = func(p Progress) {
		if p.Status == "writing manifest" {
			cancel()
		}
	}
	if _, err := Create(ctx, src, b.name("m"), b.parse("FROM m.gguf\nSYSTEM s")); err == nil {
		t.Fatal("no error")
	}
	// Close leaves that to others where its context has ended.
	if _, err := b.store.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := filepath.Glob(filepath.Join(b.store.Dir(), "blobs", "sha256-*"))
	if err != nil || len(entries) > 0 {
		t.Errorf("blobs are left: %v, %v", entries, err)
	}
}

// TestJinja takes what cannot be a Go template.
func TestJinja(t *testing.T) {
	b := newBench(t)
	d, err := Read(b.store, b.create("m", "FROM m.gguf\nTEMPLATE {% for m in messages %}{{ m['content'] }}{% endfor %}"))
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(d.Template); err != nil || !strings.HasPrefix(string(raw), "{% for") {
		t.Errorf("template %q, %v", raw, err)
	}
}

func TestHumanCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 4242: "4K", 134515008: "134.52M", 3e6: "3M", 1777088000: "1.8B", 7e9: "7B", 2e12: "2000B"} {
		if got := humanCount(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// TestCreateUnderANameThatCannotBe copies nothing first.
func TestCreateUnderANameThatCannotBe(t *testing.T) {
	b := newBench(t)
	b.create("mine", "FROM m.gguf")
	b.progress = nil
	if _, err := b.try("Mine", "FROM lora.gguf"); err == nil || !strings.Contains(err.Error(), "differs only in case from model mine") {
		t.Errorf("the error is %v", err)
	}
	if len(b.progress) > 0 {
		t.Errorf("it was done: %+v", b.progress)
	}
}
