package modelfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxFile bounds a Modelfile, in bytes.
const maxFile = 16 << 20

// Parse parses a Modelfile in UTF-8, or in UTF-16 with a byte order mark. Errors
// are of type *[Error], except those of r. [Create] checks the meaning.
func Parse(r io.Reader) (*File, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxFile {
		return nil, &Error{Message: fmt.Sprintf("the Modelfile is larger than %d MiB", maxFile>>20)}
	}
	text, err := decode(raw)
	if err != nil {
		return nil, err
	}
	p := parser{lines: strings.Split(text, "\n"), file: &File{}}
	for p.at < len(p.lines) {
		if err := p.line(); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(p.file.Instructions, func(i Instruction) bool { return i.Name == From }) {
		return nil, &Error{Message: "missing FROM line; it names a model, a GGUF file, or the URL of a remote server"}
	}
	return p.file, nil
}

var (
	markUTF8   = []byte("\xef\xbb\xbf")
	markBig    = []byte("\xfe\xff")
	markLittle = []byte("\xff\xfe")
)

// decode converts a file to UTF-8.
func decode(raw []byte) (string, error) {
	text := ""
	switch {
	case bytes.HasPrefix(raw, markBig):
		text = decode16(raw[2:], binary.BigEndian)
	case bytes.HasPrefix(raw, markLittle):
		text = decode16(raw[2:], binary.LittleEndian)
	default:
		raw = bytes.TrimPrefix(raw, markUTF8)
		if bytes.IndexByte(raw[:min(len(raw), 4)], 0) >= 0 {
			return "", &Error{Line: 1, Message: "this is not text, or it is UTF-16 without a byte order mark; save the file as UTF-8"}
		}
		text = string(raw)
	}
	if !utf8.ValidString(text) {
		good := 0
		for r, size := utf8.DecodeRuneInString(text); r != utf8.RuneError || size > 1; r, size = utf8.DecodeRuneInString(text[good:]) {
			good += size
		}
		return "", &Error{Line: 1 + strings.Count(text[:good], "\n"), Message: "this is not UTF-8; save the file as UTF-8"}
	}
	// Only if all lines do: a value may contain such line ends itself.
	if n := strings.Count(text, "\r\n"); n > 0 && n == strings.Count(text, "\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return text, nil
}

// decode16 drops an odd last byte.
func decode16(raw []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = order.Uint16(raw[2*i:])
	}
	return string(utf16.Decode(units))
}

type parser struct {
	lines []string
	at    int
	file  *File
}

// line parses the instruction that starts on the current line.
func (p *parser) line() error {
	// Trailing space counts in an open quote.
	text := strings.TrimLeftFunc(p.lines[p.at], unicode.IsSpace)
	switch {
	case text == "":
		p.at++
		return nil
	case strings.HasPrefix(text, Comment):
		p.add(Instruction{Name: Comment, Value: strings.TrimSpace(text[1:])}, 1)
		return nil
	}
	word, rest := cut(text)
	i := Instruction{Name: strings.ToUpper(word), Line: p.at + 1}
	if !slices.Contains(names, i.Name) {
		return i.errorf("unknown instruction %s; a line begins with %s, or # for a comment", shown(word), strings.Join(names, ", "))
	}
	var err error
	if i.Key, rest, err = key(i, rest); err != nil {
		return err
	}
	if strings.TrimSpace(rest) == "" {
		return i.errorf("%s has no value; it must begin on the same line", head(i))
	}
	taken := 0
	if i.Value, taken = readValue(rest, p.lines[p.at:]); taken == 0 {
		return i.errorf("the value of %s has no end: %s", head(i), missing(rest))
	}
	if i.Name == From && i.Value == "" {
		return i.errorf("FROM has an empty value")
	}
	p.add(i, taken)
	return nil
}

// missing describes what would end an unterminated value.
func missing(rest string) string {
	text := strings.TrimSpace(rest)
	if marks := opening(text); marks != "" {
		return "it begins with " + marks + ", and no line ends with that"
	}
	return "it begins with " + text + ", and no line is " + strings.TrimPrefix(text, "<<")
}

func (p *parser) add(i Instruction, lines int) {
	i.Line = p.at + 1
	p.file.Instructions = append(p.file.Instructions, i)
	p.at += lines
}

// cut splits off the first word.
func cut(text string) (word, rest string) {
	if i := strings.IndexAny(text, " \t\r"); i >= 0 {
		return text[:i], strings.TrimLeft(text[i:], " \t\r")
	}
	return text, ""
}

// head is an instruction without its value, for messages.
func head(i Instruction) string { return strings.TrimSpace(i.Name + " " + i.Key) }

// parameterName also bounds the search for similar names.
var parameterName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)

// key splits off the key of an instruction that has one.
func key(i Instruction, text string) (key, rest string, err error) {
	switch i.Name {
	case Parameter:
		if key, rest = cut(text); !parameterName.MatchString(key) {
			return "", "", i.errorf("PARAMETER needs a name and a value, such as PARAMETER num_ctx 4096; %s is not a name", shown(key))
		}
		return strings.ToLower(key), rest, nil
	case Message:
		key, rest = cut(text)
		if key = strings.ToLower(key); !slices.Contains(roles, key) {
			return "", "", i.errorf("MESSAGE needs a role and a text; the role is %s, not %s", strings.Join(roles, ", "), shown(key))
		}
		return key, rest, nil
	}
	return "", text, nil
}

// roles are the roles of a MESSAGE.
var roles = []string{"system", "user", "assistant"}

// shown quotes a word for an error, truncated and without control characters.
func shown(word string) string {
	const most = 40
	runes := []rune(word)
	if len(runes) > most {
		runes = append(runes[:most], '…')
	}
	return fmt.Sprintf("%q", string(runes))
}
