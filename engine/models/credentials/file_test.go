package credentials

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

func open(t *testing.T) (*File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "diglot", "credentials.json")
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f, path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestHost(t *testing.T) {
	tests := []struct{ in, want, short string }{
		{"api.example.com", "api.example.com:443", "api.example.com"},
		{"API.Example.com.", "api.example.com:443", "api.example.com"},
		{"https://api.example.com/v1", "api.example.com:443", "api.example.com"},
		{"HTTPS://api.example.com:8443/v1", "api.example.com:8443", "api.example.com:8443"},
		{"http://localhost", "localhost:80", "localhost:80"},
		{"localhost:8080", "localhost:8080", "localhost:8080"},
		{"[::1]:8080", "[::1]:8080", "[::1]:8080"},
		{"https://[::1]", "[::1]:443", "[::1]:443"},
		{"", "", ""},
		{"https://", "", ""},
		{"ftp://example.com", "", ""},
		{"u:p@example.com", "", ""},
		{"https://u@example.com", "", ""},
		{"example.com:0", "", ""},
		{"example.com:99999", "", ""},
		{"example.com:http", "", ""},
		{"exa mple.com", "", ""},
		{"example.com\nevil", "", ""},
		{"$(id)", "", ""},
		{"a;id", "", ""},
		{"https://a&id/v1", "", ""},
		{"a..b", "", ""},
		{"[fe80::1%25$(id)]:80", "", ""},
		{"https://api.m\u0130stral.example", "", ""}, // İ, which in lower case is i, and for the net another host
		{"https://api.m%C4%B0stral.example", "", ""},
		{"xn--mnchen-3ya.example", "xn--mnchen-3ya.example:443", "xn--mnchen-3ya.example"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got, err := Host(tt.in)
			if got != tt.want || (err != nil) != (tt.want == "") {
				t.Fatalf("%q, %v; want %q", got, err, tt.want)
			}
			if err == nil {
				if short := Short(got); short != tt.short {
					t.Errorf("short %q, want %q", short, tt.short)
				}
				if again, err := Host(Short(got)); again != got || err != nil {
					t.Errorf("the short form is %q again, %v", again, err)
				}
			}
		})
	}
}

func TestKey(t *testing.T) {
	f, _ := open(t)
	must(t, f.Set("api.example.com", "sk-1"))
	must(t, f.Set("localhost:8080", "sk-2"))
	must(t, f.Set("far.example.com:80", "sk-3"))
	must(t, f.Allow("open.example.com:80"))
	must(t, f.SetEnv("env.example.com", "THEIR_KEY"))
	must(t, f.SetEnv("odd.example.com", "ODD_KEY"))
	must(t, f.SetEnv("unset.example.com", "NO_KEY"))
	env := func(name string) (string, bool) {
		value, ok := map[string]string{"THEIR_KEY": "sk-4\n", "ODD_KEY": "sk 5"}[name]
		return value, ok
	}
	tests := []struct {
		url, want string
		code      engine.Code
		says      string
	}{
		{"https://api.example.com/v1", "sk-1", "", ""},
		{"https://API.example.com:443/v1", "sk-1", "", ""},
		{"https://api.example.com:8443/v1", "", engine.CodeForbidden, "diglot login api.example.com:8443"},
		{"http://api.example.com/v1", "", engine.CodeForbidden, "diglot login api.example.com:80"},
		{"https://example.com/v1", "", engine.CodeForbidden, "diglot login example.com"},
		{"http://localhost:8080/v1", "sk-2", "", ""},
		{"https://localhost:8080/v1", "sk-2", "", ""},
		{"http://far.example.com/v1", "", engine.CodeForbidden, "only over https://"},
		{"http://open.example.com/v1", "", "", ""},
		{"https://env.example.com/v1", "sk-4", "", ""},
		{"https://odd.example.com/v1", "", engine.CodeInternal, "odd.example.com"},
		{"https://unset.example.com/v1", "", engine.CodeInternal, "unset.example.com"},
		{"nonsense://x", "", engine.CodeInternal, "not valid"},
	}
	for _, tt := range tests {
		t.Run(tt.url, func(t *testing.T) {
			got, err := f.Key(tt.url, env)
			if tt.code == "" {
				if got != tt.want || err != nil {
					t.Errorf("%q, %v; want %q", got, err, tt.want)
				}
				return
			}
			var coded *engine.Error
			if got != "" || !errors.As(err, &coded) || coded.Code != tt.code || !strings.Contains(coded.Message, tt.says) || !coded.NoRetry {
				t.Errorf("%q, %+v; want %s with %q", got, coded, tt.code, tt.says)
			}
			for _, key := range []string{"sk-", "sk 5"} {
				if err != nil && strings.Contains(err.Error(), key) {
					t.Errorf("the key is in the error: %v", err)
				}
			}
		})
	}
}

func TestChanges(t *testing.T) {
	f, path := open(t)
	must(t, f.Set("https://api.example.com/v1", "sk-1"))
	must(t, f.SetEnv("b.example.com", "KEY"))
	must(t, f.Allow("localhost:8080"))
	must(t, f.Allow("api.example.com")) // the key is gone
	must(t, f.Remove("b.example.com"))
	hosts, err := f.Hosts()
	must(t, err)
	if diff := cmp.Diff([]string{"api.example.com:443", "localhost:8080"}, hosts); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
	if e, ok, err := f.Lookup("api.example.com"); !ok || err != nil || e.HasKey() {
		t.Errorf("%v, %v, %v", e, ok, err)
	}
	if e, ok, err := f.Lookup("b.example.com"); ok || err != nil || e.HasKey() {
		t.Errorf("%v, %v, %v", e, ok, err)
	}
	for name, err := range map[string]error{
		"remove an unknown host": f.Remove("c.example.com"),
		"an empty key":           f.Set("api.example.com", ""),
		"a key with a line end":  f.Set("api.example.com", "a\nb"),
		"a key that is a book":   f.Set("api.example.com", strings.Repeat("x", maxKey+1)),
		"a variable of nonsense": f.SetEnv("api.example.com", "1=2"),
		"no variable":            f.SetEnv("api.example.com", ""),
		"no host":                f.Allow(""),
	} {
		if err == nil {
			t.Errorf("%s succeeds", name)
		}
	}
	info, err := os.Stat(path)
	must(t, err)
	if runtime.GOOS != "windows" && info.Mode().Perm() != private {
		t.Errorf("mode %v", info.Mode())
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

// TestWhatACrashLeft has keys in a file that nobody renamed.
func TestWhatACrashLeft(t *testing.T) {
	f, path := open(t)
	must(t, f.Set("a.example.com", "sk-1"))
	left, other := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"-123"), filepath.Join(filepath.Dir(path), "other")
	must(t, errors.Join(os.WriteFile(left, []byte("sk-1"), private), os.WriteFile(other, nil, private)))
	must(t, f.Remove("a.example.com"))
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a key is left: %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

func TestOtherProcess(t *testing.T) {
	f, path := open(t)
	other, err := Open(path)
	must(t, err)
	must(t, other.Set("api.example.com", "sk-1"))
	if key, err := f.Key("https://api.example.com", nil); key != "sk-1" || err != nil {
		t.Errorf("%q, %v: a change by another is not seen", key, err)
	}
}

func TestConcurrentChanges(t *testing.T) {
	_, path := open(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			f, err := Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			if err := f.Set(fmt.Sprintf("h%d.example.com", i), "k"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f, err := Open(path)
	must(t, err)
	if hosts, err := f.Hosts(); len(hosts) != 20 || err != nil {
		t.Errorf("%d hosts, %v: a change is lost", len(hosts), err)
	}
}

func TestRefusedFiles(t *testing.T) {
	const good = `{"version":1,"hosts":{"a:1":{"key":"sk-secret"}}}`
	tests := []struct {
		name, text string
		mode       fs.FileMode
		says       string // empty: it is fine
	}{
		{"good", good, private, ""},
		{"empty hosts", `{"version":1}`, private, ""},
		{"others may read", good, 0o644, "chmod 600"},
		{"the group may write", good, 0o620, "chmod 600"},
		{"no JSON", `sk-secret`, private, "log in again"},
		{"two values", good + good, private, "log in again"},
		{"a bracket too many", good + "}", private, "log in again"},
		{"a word behind it", good + " x", private, "log in again"},
		{"a host in capitals", `{"version":1,"hosts":{"A.example:1":{"key":"sk-secret"}}}`, private, "lower case"},
		{"a host with a path", `{"version":1,"hosts":{"a.example/v1:1":{"key":"sk-secret"}}}`, private, "lower case"},
		{"a host with a scheme", `{"version":1,"hosts":{"https://a.example:1":{"key":"sk-secret"}}}`, private, "a.example"},
		{"an address", `{"version":1,"hosts":{"[::1]:1":{"key":"sk-secret"}}}`, private, ""},
		{"unknown members", `{"version":1,"keys":{"sk-secret":1}}`, private, "log in again"},
		{"a newer version", `{"version":2,"hosts":{}}`, private, "version 2"},
		{"a host without a port", `{"version":1,"hosts":{"a":{"key":"sk-secret"}}}`, private, "no port"},
		{"key and variable", `{"version":1,"hosts":{"a:1":{"key":"sk-secret","variable":"X"}}}`, private, "both"},
		{"a key that is none", `{"version":1,"hosts":{"a:1":{"key":"sk-secret\n"}}}`, private, "an invalid character"},
		{"a variable that is none", `{"version":1,"hosts":{"a:1":{"variable":"sk-secret"}}}`, private, "not a valid name"},
		{"too long", good + strings.Repeat(" ", maxFile), private, "not a credentials file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c")
			must(t, os.WriteFile(path, []byte(tt.text), private))
			must(t, os.Chmod(path, tt.mode))
			_, err := Open(path)
			if tt.says == "" {
				must(t, err)
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("%v, want an error with %q and without a key", err, tt.says)
			}
		})
	}
}

func TestEntryShowsNoKey(t *testing.T) {
	e := Entry{key: "sk-secret"}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "entry", e, "in", struct{ E Entry }{e})
	for _, text := range []string{fmt.Sprint(e), fmt.Sprintf("%v %+v %#v %s %q %x", e, e, e, e, e, e), fmt.Sprintf("%+v", struct{ E Entry }{e}),
		fmt.Sprintf("%#v", []Entry{e}), log.String()} {
		if strings.Contains(text, "secret") || strings.Contains(text, fmt.Sprintf("%x", "sk-secret")) {
			t.Errorf("the key shows: %s", text)
		}
	}
}

func FuzzHost(f *testing.F) {
	f.Add("https://api.example.com:8443/v1")
	f.Add("[::1]:8080")
	f.Fuzz(func(t *testing.T, s string) {
		host, err := Host(s)
		if err != nil {
			return
		}
		if again, err := Host(host); again != host || err != nil {
			t.Errorf("%q is %q, and that is %q, %v", s, host, again, err)
		}
	})
}
