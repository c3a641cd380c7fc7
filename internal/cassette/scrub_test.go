package cassette_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/diglot/diglot/internal/cassette"
)

func scrub(request cassette.Request, reply string) cassette.Interaction {
	return cassette.DefaultScrub().Apply(cassette.Interaction{Request: request, Response: cassette.Response{Body: reply}})
}

func TestSecretParameters(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"x=1;api_key=S&y=2", "x=1;api_key=scrubbed&y=2"},
		{"api_key=S;T&y=2", "api_key=scrubbed&y=2"},
		{"session=S", "session=scrubbed"},
		{"sid=S&aside=1", "sid=scrubbed&aside=1"},
		{"pwd=S", "pwd=scrubbed"},
		{"pass=S&bypass=1", "pass=scrubbed&bypass=1"},
		{"jwt=S", "jwt=scrubbed"},
		{"bearer=S", "bearer=scrubbed"},
		{"email=S", "email=scrubbed"},
		{"limit=1;after=b&order=a%3Bb", "limit=1;after=b&order=a%3Bb"},
	} {
		if got := scrub(cassette.Request{URL: "/v1/x?" + tt.in}, "").Request.URL; got != "/v1/x?"+tt.want {
			t.Errorf("%s: got %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestSecretHeadersInBodies(t *testing.T) {
	for _, name := range []string{"X-Jwt", "X-Session-Id", "X-User-Email", "X-Pwd", "X-Sid"} {
		headers := http.Header{name: {"value@of.header"}}
		if got := scrub(cassette.Request{URL: "/", Headers: headers}, "is value@of.header.").Response.Body; got != "is scrubbed." {
			t.Errorf("%s: the body is %q", name, got)
		}
	}
	agent := scrub(cassette.Request{URL: "/", Headers: http.Header{"User-Agent": {"bot/1.0 +me@mail.example.com npm/@scope"}}}, "from +me@mail.example.com")
	if got := agent.Response.Body; got != "from scrubbed" {
		t.Errorf("the address in the body is %q", got)
	}
	if got := agent.Request.Headers.Get("User-Agent"); got != "bot/1.0 scrubbed npm/@scope" {
		t.Errorf("the User-Agent is %q", got)
	}
}

func TestSpellingsOfSecrets(t *testing.T) {
	const secret = "abc+def/ghi&jkl"
	for _, tt := range []struct{ name, in, want string }{
		{"plain", secret, "scrubbed"},
		{"of a URL", "/" + url.QueryEscape(secret) + "?", "/scrubbed?"},
		{"of a URL, lower case", "/abc%2bdef%2fghi%26jkl/x", "/scrubbed/x"},
		{"of a URL, all escaped", "%61%62%63%2B%64%65%66%2F%67%68%69%26%6a%6b%6c", "scrubbed"},
		{"of a URL, twice", "abc%252Bdef%252Fghi%2526jkl%25", "scrubbed%25"},
		{"of JSON", `{"a":"abc\u002Bdef/ghi\u0026jkl\n"}`, `{"a":"scrubbed\n"}`},
		{"of JSON, lower case", `"abc\u002bdef\/ghi&jkl"`, `"scrubbed"`},
		{"of JSON in JSON", `"\"abc\\u002bdef\\/ghi\\u0026jkl\""`, `"\"scrubbed\""`},
		{"something else", `%zz \u00 \ abc%2Bdef abc\u002Bdef\/ghi %`, `%zz \u00 \ abc%2Bdef abc\u002Bdef\/ghi %`},
	} {
		got := scrub(cassette.Request{URL: "/", Headers: http.Header{"X-Api-Key": {secret}}}, tt.in).Response.Body
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	path := scrub(cassette.Request{URL: "/v1/abc%2Bdef%2Fghi%26jkl", Headers: http.Header{"X-Api-Key": {secret}}}, "")
	if path.Request.URL != "/v1/scrubbed" {
		t.Errorf("the path is %s", path.Request.URL)
	}
}

func TestSecretMembers(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"a key", `{"api_key": "S\"T\\", "b": 1}`, `{"api_key": "scrubbed", "b": 1}`},
		{"others", `{"apiKey":"S","access_token":"S","Authorization":"S","password":"S","client_secret":"S"}`,
			`{"apiKey":"scrubbed","access_token":"scrubbed","Authorization":"scrubbed","password":"scrubbed","client_secret":"scrubbed"}`},
		{"in a string", `{"a":"{\"api_key\": \"S\", \"b\": \"c\"}"}`, `{"a":"{\"api_key\": \"scrubbed\", \"b\": \"c\"}"}`},
		{"of a text", `{"token":"Hi","key":"k","password":{"type":"string"},"api_key":""}`, `{"token":"Hi","key":"k","password":{"type":"string"},"api_key":""}`},
	} {
		if got := scrub(cassette.Request{URL: "/", Body: tt.in}, "").Request.Body; got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	reply := scrub(cassette.Request{URL: "/", Body: `{"api_key":"abc\/defgh"}`}, "Your key abc/defgh is wrong.").Response.Body
	if strings.Contains(reply, "defgh") {
		t.Errorf("the reply repeats the key: %s", reply)
	}
}
