package site

import (
	"net/http"
	"strconv"
	"strings"
)

// PrefersHTML reports whether a request asks for HTML by name, and for JSON less: browsers
// do. Probes, SDKs and curl accept JSON, anything, or say nothing.
func PrefersHTML(r *http.Request) bool {
	html, json := 0.0, 0.0
	for _, line := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(line, ",") {
			media, parameters, _ := strings.Cut(part, ";")
			switch strings.ToLower(strings.TrimSpace(media)) {
			case "text/html", "application/xhtml+xml":
				html = max(html, quality(parameters))
			case "application/json":
				json = max(json, quality(parameters))
			}
		}
	}
	return html > json
}

// quality is the weight in the parameters of a media range (RFC 9110, 12.4.2).
func quality(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(p, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || q < 0 || q > 1 {
			return 0 // a range without a valid weight is no preference
		}
		return q
	}
	return 1
}
