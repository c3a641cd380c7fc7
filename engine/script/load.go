package script

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/prompt"
	"gopkg.in/yaml.v3"
)

const (
	defaultContext = 4096

	// maxCount limits the numbers of tokens in a script, which decide on
	// allocations.
	maxCount = 1 << 24

	maxScript = 64 << 20 // bytes
)

// Open loads a script from a file, whose modification time becomes that of the
// models.
func Open(path string) ([]*Model, error) {
	// O_NONBLOCK: a named pipe without a writer reads as empty instead of blocking.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	models, err := Load(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, m := range models {
		m.info.Changed = info.ModTime()
	}
	return models, nil
}

// Load reads one script and returns its models, sorted by name. Errors name the
// line.
func Load(r io.Reader) ([]*Model, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxScript+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxScript:
		return nil, fmt.Errorf("the script has more than %d bytes", maxScript)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("line 1: the script is empty")
	case err != nil:
		return nil, withLine(err, text)
	}
	var second yaml.Node
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, at(&document, "a script is one YAML document, and another follows")
	}

	var models []*Model
	root := document.Content[0]
	err = mapping(root, fields{
		"models": func(n *yaml.Node) (err error) {
			models, err = loadModels(n)
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	if models == nil {
		return nil, at(root, "models is missing")
	}
	slices.SortFunc(models, func(a, b *Model) int { return strings.Compare(a.info.Name, b.info.Name) })
	return models, nil
}

// withLine adds the line to errors of package yaml that lack it: the first line
// that gives the same error together with those before it.
func withLine(err error, text []byte) error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.HasPrefix(message, "line ") {
		return errors.New(message)
	}
	lines := slices.Collect(bytes.Lines(text))
	n := sort.Search(len(lines), func(n int) bool {
		var document yaml.Node
		again := yaml.Unmarshal(bytes.Join(lines[:n+1], nil), &document)
		return again != nil && again.Error() == err.Error()
	})
	return fmt.Errorf("line %d: %s", min(n+1, len(lines)), message)
}

func loadModels(n *yaml.Node) ([]*Model, error) {
	var models []*Model
	err := pairs(n, func(key, value *yaml.Node) error {
		name := key.Value
		if name == "" {
			return at(key, "a model needs a name")
		}
		if slices.ContainsFunc(models, func(m *Model) bool { return engine.SameModel(m.info.Name, name) }) {
			return at(key, "duplicate model %q", name)
		}
		m, err := loadModel(name, value)
		models = append(models, m)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(models) == 0 {
		return nil, at(n, "models is empty")
	}
	return models, nil
}

func loadModel(name string, n *yaml.Node) (*Model, error) {
	m := &Model{
		info: chat.Info{
			Name:    name,
			Owner:   engine.Owner(name),
			Format:  "plain",
			Context: defaultContext,
		},
		closed: make(chan struct{}),
	}
	var fim bool
	err := mapping(n, fields{
		"format":    oneOf(&m.info.Format, format.Names()...),
		"context":   count(&m.info.Context, 1),
		"vision":    boolean(&m.info.Vision),
		"fim":       boolean(&fim),
		"embedding": count(&m.info.Vectors.Size, 1),
		"image":     boolean(&m.draws),
		"replies": sequence(func(n *yaml.Node) error {
			r, err := loadReply(n)
			m.replies = append(m.replies, r)
			return err
		}),
	})
	if err != nil {
		return nil, err
	}
	if m.draws {
		if len(m.replies) > 0 || m.info.Vectors.Size > 0 {
			return nil, at(n, "model %q has image: true, which excludes replies and embedding", name)
		}
		return m, nil
	}
	if m.info.Vectors.Only = len(m.replies) == 0; m.info.Vectors.Only && m.info.Vectors.Size == 0 {
		return nil, at(n, "model %q needs replies, embedding or image", name)
	}
	if v := &m.info.Vectors; v.Size > 0 {
		v.Input, v.Vocabulary = m.info.Context, vocabulary
	}
	if fim {
		m.info.FIM = prompt.FIM{Prefix: "<fim_prefix>", Suffix: "<fim_suffix>", Middle: "<fim_middle>"}
	}
	return m, nil
}

func loadReply(n *yaml.Node) (reply, error) {
	r := reply{finish: finishStop}
	var hasPieces bool
	err := mapping(n, fields{
		"when": func(n *yaml.Node) error {
			return mapping(n, fields{"contains": text(&r.contains)})
		},
		"pieces": func(n *yaml.Node) error {
			hasPieces = true
			return sequence(func(n *yaml.Node) error {
				p, err := loadPiece(n)
				r.pieces = append(r.pieces, p)
				return err
			})(n)
		},
		"finish": oneOf(&r.finish, finishStop, finishLength, finishCrash, finishStall),
		"prompt_tokens": func(n *yaml.Node) error {
			r.promptTokens = new(int)
			return count(r.promptTokens, 0)(n)
		},
	})
	if err == nil && !hasPieces {
		err = at(n, "the reply has no pieces")
	}
	return r, err
}

func loadPiece(n *yaml.Node) (piece, error) {
	var p piece
	n = resolve(n)
	if n.Kind == yaml.ScalarNode {
		var s string
		err := text(&s)(n)
		p.text = []byte(s)
		return p, err
	}
	var kinds int
	err := mapping(n, fields{
		"sleep": func(n *yaml.Node) error {
			kinds++
			return duration(&p.sleep)(n)
		},
		"base64": func(n *yaml.Node) error {
			kinds++
			return binary(&p.text)(n)
		},
	})
	if err == nil && kinds != 1 {
		err = at(n, "a piece is a string, {sleep: 20ms} or {base64: \"4pw=\"}")
	}
	return p, err
}

// duration reads a Go duration: 20ms, 1.5s.
func duration(to *time.Duration) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		var s string
		if err := text(&s)(n); err != nil {
			return err
		}
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return at(n, "%q is not a duration such as 20ms", s)
		}
		*to = d
		return nil
	}
}
