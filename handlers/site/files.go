package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/diglot/diglot/engine"
)

// contentTypes are those of the files that a site may have. They are not left to the
// machine's own table, which differs.
var contentTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".md":   "text/markdown; charset=utf-8",
	".png":  "image/png",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
	".yaml": "application/yaml",
}

// serveFile serves the named file. A folder is its index.html, at a path that ends in a
// slash, so that relative links in it work.
func serveFile(w http.ResponseWriter, r *http.Request, files fs.FS, name string) *engine.Error {
	missing := engine.Errorf(engine.CodeNotFound, "No such page: %s.", r.URL.Path)
	if name == "" || strings.HasSuffix(name, "/") {
		name += "index.html"
	}
	info, err := fs.Stat(files, name) // refuses names such as ../x
	if err != nil {
		return missing
	}
	if info.IsDir() {
		if _, err := fs.Stat(files, path.Join(name, "index.html")); err != nil {
			return missing
		}
		redirect(w, r, r.URL.Path+"/")
		return nil
	}
	contentType, ok := contentTypes[path.Ext(name)]
	if !ok {
		return missing
	}
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return engine.Errorf(engine.CodeInternal, "Internal error.").Because(err)
	}
	h := w.Header()
	secure(h)
	h.Set("Content-Type", contentType)
	// The next version of the program has other files at the same paths, so each use is
	// revalidated.
	sum := sha256.Sum256(text)
	h.Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	h.Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(text))
	return nil
}

// redirect leads to a path of this server, with the query.
func redirect(w http.ResponseWriter, r *http.Request, to string) {
	secure(w.Header())
	u := *r.URL
	u.Scheme, u.Host, u.User, u.Path, u.RawPath = "", "", nil, to, ""
	w.Header().Set("Location", u.String())
	w.WriteHeader(http.StatusMovedPermanently)
}
