package modelfile

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/diglot/diglot/engine/chat/template"
	"github.com/diglot/diglot/internal/hostname"
)

// recipe is a Modelfile, checked as far as possible without other files.
type recipe struct {
	from     []Instruction
	adapters []Instruction

	template, system string
	messages         []turn
	size             int // bytes of all messages
	licenses         []string
	params           params
	lines            map[string]Instruction // that set them, by name
	requires         string
	renderer, parser string
	remoteModel      string

	warnings []string
	try      func(template string) error
}

// check makes a recipe; try tests its chat template. Errors are of type *Error.
func check(f *File, try func(template string) error) (*recipe, error) {
	r := &recipe{params: params{}, lines: map[string]Instruction{}, try: try}
	host := ""
	for _, i := range f.Instructions {
		if i.Name == From && host == "" {
			host = hostOf(i.Value)
		}
	}
	for _, i := range f.Instructions {
		if err := r.take(i, host); err != nil {
			return nil, err
		}
	}
	if len(r.from) == 0 {
		return nil, &Error{Message: "missing FROM line"}
	}
	r.warnings = append(r.warnings, r.params.warnings()...)
	return r, nil
}

// hostOf is the host of a URL, or empty for anything else.
func hostOf(value string) string {
	u, err := url.Parse(value)
	if err != nil || !hostname.InURL(u) {
		return ""
	}
	return u.Host
}

// maxLicenses bounds the LICENSE lines, each of which becomes a blob.
const maxLicenses = 100

// take adds an instruction. The last one of a kind counts, if a model has only
// one.
func (r *recipe) take(i Instruction, host string) error {
	if i.Name != Comment && i.Name != Message && len(i.Value) > maxText {
		return i.errorf("%s has %d bytes; the limit is %d", head(i), len(i.Value), maxText)
	}
	if (i.Name == From || i.Name == Adapter) && strings.ContainsFunc(i.Value, unicode.IsControl) {
		return i.errorf("%s %s contains a control character", i.Name, shown(i.Value))
	}
	switch i.Name {
	case From:
		r.from = append(r.from, i)
	case Adapter:
		r.adapters = append(r.adapters, i)
	case Parameter:
		return r.parameter(i, host)
	case Template:
		r.template = r.replace(i)
		return r.checkTemplate(i)
	case System:
		r.system = r.replace(i)
	case License:
		if i.Value == "" {
			return nil
		}
		if r.licenses = append(r.licenses, i.Value); len(r.licenses) > maxLicenses {
			return i.errorf("more than %d LICENSE lines; write a longer text between triple quotes", maxLicenses)
		}
	case Message:
		if !slices.Contains(roles, i.Key) {
			return i.errorf("the role of a MESSAGE is %s, not %s", strings.Join(roles, ", "), shown(i.Key))
		}
		if r.size += len(i.Value); r.size > maxMessages/2 {
			return i.errorf("the MESSAGE lines have more than %d MiB in total", maxMessages/2>>20)
		}
		r.messages = append(r.messages, turn{Role: i.Key, Content: i.Value})
	case Requires:
		if _, ok := parseVersion(i.Value); !ok {
			return i.errorf("REQUIRES needs a version such as 0.14.0, not %s", shown(i.Value))
		}
		r.requires = strings.TrimPrefix(i.Value, "v")
	case Renderer:
		r.renderer = r.idle(i)
	case Parser:
		r.parser = r.idle(i)
	}
	return nil
}

// replace is the value of an instruction that replaces the base model's.
func (r *recipe) replace(i Instruction) string {
	if i.Value == "" {
		r.warnings = append(r.warnings, fmt.Sprintf("%s is empty and has no effect: that of the base model is kept.", i.Name))
	}
	return i.Value
}

func (r *recipe) idle(i Instruction) string {
	r.warnings = append(r.warnings, fmt.Sprintf("%s has no effect: it names code of Ollama; the chat template is used.", i.Name))
	return i.Value
}

func (r *recipe) parameter(i Instruction, host string) error {
	p, ok := find(i.Key)
	switch {
	case !parameterName.MatchString(i.Key): // the file did not come from Parse
		return i.errorf("PARAMETER %s is not a name", shown(i.Key))
	case !ok:
		return i.errorf("PARAMETER %s %s", i.Key, unknown(i.Key, host))
	}
	value, err := p.read(i.Value)
	if err != nil {
		return i.errorf("PARAMETER %s: %v", i.Key, err)
	}
	r.lines[i.Key] = i
	switch {
	case p.kind == word:
		r.remoteModel = value.(string)
		return nil
	case p.kind == texts:
		all, _ := r.params[i.Key].([]string)
		if value, err = p.readTexts(append(all, value.([]string)...)); err != nil {
			return i.errorf("PARAMETER %s: %v", i.Key, err)
		}
	}
	r.params[i.Key] = value
	return nil
}

// templateMistake matches the end of text/template's errors.
var templateMistake = regexp.MustCompile(`template: [^:]*:(\d+)(?::\d+)?: (.*)$`)

// tryTemplate tests a template with the code that will render it, so that it
// cannot fail when the model is loaded.
func (src Source) tryTemplate(ctx context.Context, source string) error {
	if src.Template != nil {
		return src.Template(ctx, source)
	}
	_, err := template.New(source, template.Model{}, time.Now)
	return err
}

func (r *recipe) checkTemplate(i Instruction) error {
	if i.Value == "" {
		return nil
	}
	err := r.try(i.Value)
	if err == nil {
		return nil
	}
	if m := templateMistake.FindStringSubmatch(err.Error()); m != nil {
		return i.errorf("TEMPLATE: line %s of it: %s", m[1], brief(m[2]))
	}
	return i.errorf("TEMPLATE: %s", brief(err.Error()))
}

// brief truncates a message that may quote a long text.
func brief(text string) string {
	const most = 300
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

var versionForm = regexp.MustCompile(`^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$`)

// version is a semantic version. One with a suffix precedes the one without.
type version struct {
	numbers [3]int
	suffix  string
}

func parseVersion(text string) (version, bool) {
	m := versionForm.FindStringSubmatch(text)
	if m == nil {
		return version{}, false
	}
	v := version{suffix: m[4]}
	for i := range v.numbers {
		v.numbers[i], _ = strconv.Atoi(m[i+1]) // at most nine digits
	}
	return v, true
}

// older reports whether version have is older than want. It is false for an
// invalid version, and for the 0.0.0 of Go's development builds.
func older(have, want string) bool {
	h, ok := parseVersion(have)
	w, ok2 := parseVersion(want)
	if !ok || !ok2 || h.numbers == [3]int{} {
		return false
	}
	for i := range h.numbers {
		if c := cmp.Compare(h.numbers[i], w.numbers[i]); c != 0 {
			return c < 0
		}
	}
	return h.suffix != "" && w.suffix == ""
}
