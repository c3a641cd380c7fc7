package site

import (
	"cmp"
	"encoding/json/jsontext"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	units "github.com/docker/go-units"

	"github.com/diglot/diglot/engine"
)

// shortList is how many models the page lists before it folds the rest.
const shortList = 12

// home is what the template of the page at / shows.
type home struct {
	Visitor
	Version, Profile string
	Base             string // URL of the server
	Docs             bool
	Models, More     []model
	Failed           string // why the models cannot be listed
	Memory           string
}

// model is a row of the list of models.
type model struct {
	Name    string
	Context string
	State   string // in words
	Loaded  bool
}

// Example is the body of a request, quoted for a shell.
func (h home) Example() (string, error) {
	name := "NAME"
	if len(h.Models) > 0 {
		name = h.Models[0].Name
	}
	quoted, err := jsontext.AppendQuote(nil, name)
	body := fmt.Sprintf(`{"model": %s, "stream": true, "messages": [{"role": "user", "content": "Hello!"}]}`, quoted)
	return "'" + strings.ReplaceAll(body, "'", `'\''`) + "'", err
}

func (s *Site) serveHome(w http.ResponseWriter, r *http.Request, v Visitor) *engine.Error {
	status := s.config.Status(r.Context())
	page := home{
		Visitor: v,
		Version: status.Version,
		Profile: s.config.Profile,
		Base:    base(r),
		Docs:    s.config.Docs != nil,
	}
	if v.Known {
		all, err := s.models(r, status.Loaded)
		if err != nil {
			page.Failed = engine.AsError(err).Message
		}
		page.Models = all[:min(len(all), shortList)]
		page.More = all[len(page.Models):]
		page.Memory = describeMemory(status)
	}
	s.render(w, http.StatusOK, "home.html", page)
	return nil
}

// base is the URL of the server as the client called it. Behind a proxy that ends TLS it has
// the wrong scheme; the script of the page knows better.
func base(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// models are those that can be asked for, and those that are still loaded though they cannot
// be asked for any more; what is loaded comes first.
func (s *Site) models(r *http.Request, loaded []Loaded) ([]model, error) {
	known, err := s.config.Models(r.Context())
	if err != nil {
		return nil, err
	}
	now := s.config.Clock()
	var all []model
	shown := map[string]bool{}
	for _, m := range known {
		row := model{Name: m.Name, Context: grouped(m.Context), State: "not loaded"}
		if i := slices.IndexFunc(loaded, func(l Loaded) bool { return l.is(m.Name) }); i >= 0 {
			row = loaded[i].row(m, now)
			shown[loaded[i].Name] = true
		}
		all = append(all, row)
	}
	for _, l := range loaded {
		if !shown[l.Name] {
			all = append(all, l.row(engine.Model{Name: l.Name}, now))
		}
	}
	slices.SortStableFunc(all, func(a, b model) int { return cmp.Compare(order(a), order(b)) })
	return all, nil
}

func order(m model) int {
	if m.Loaded {
		return 0
	}
	return 1
}

func (l Loaded) is(name string) bool {
	return engine.SameModel(l.Name, name) || slices.ContainsFunc(l.Others, func(o string) bool { return engine.SameModel(o, name) })
}

// row is the row of a model that is loaded; the context may be smaller than what the model
// was made for.
func (l Loaded) row(m engine.Model, now time.Time) model {
	return model{Name: m.Name, Context: grouped(cmp.Or(l.Context, m.Context)), State: l.state(now), Loaded: true}
}

// state describes a loaded model.
func (l Loaded) state(now time.Time) string {
	words := []string{"loaded"}
	switch {
	case l.Loading:
		words[0] = "loading"
	case l.Stopping:
		words[0] = "stopping"
	case l.Host != "":
		words[0] = "at " + l.Host
	}
	if l.Size > 0 {
		words = append(words, size(l.Size))
	}
	switch {
	case l.Requests == 1:
		words = append(words, "1 request")
	case l.Requests > 1:
		words = append(words, fmt.Sprintf("%d requests", l.Requests))
	}
	if !l.Until.IsZero() {
		words = append(words, "unloads in "+strings.ToLower(units.HumanDuration(max(l.Until.Sub(now), 0))))
	}
	return strings.Join(words, ", ")
}

// describeMemory is one line about what models use and may use.
func describeMemory(s Status) string {
	used := int64(0)
	for _, l := range s.Loaded {
		used += l.Size
	}
	var words []string
	switch {
	case s.Limit > 0:
		words = append(words, fmt.Sprintf("models use %s of at most %s", size(used), size(s.Limit)))
	case used > 0:
		words = append(words, "models use "+size(used))
	}
	if s.Available > 0 {
		words = append(words, size(s.Available)+" available")
	}
	return strings.Join(words, ", ")
}

// size formats bytes as diglot ps does.
func size(n int64) string {
	return units.CustomSize("%.4g %s", float64(n), 1000, []string{"B", "KB", "MB", "GB", "TB"})
}

// grouped writes a number with commas, and nothing for 0.
func grouped(n int) string {
	if n == 0 {
		return ""
	}
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
