//go:build unix

package registry_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/diglot/diglot/engine/models/registry"
)

// TestCredentialHelper uses a program for the password, as docker's config
// can name one.
func TestCredentialHelper(t *testing.T) {
	f := newFront(t, startLockedRegistry(t))
	directory := t.TempDir()
	helper := filepath.Join(directory, "docker-credential-cave")
	write(t, helper, `#!/bin/sh
read host
[ "$1 $host" = "get `+f.host+`" ] || { echo "credentials not found in native keychain"; exit 1; }
echo '{"ServerURL":"'$host'","Username":"`+user+`","Secret":"`+password+`"}'
`)
	if err := os.Chmod(helper, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", directory+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, config := range []string{`{"credsStore":"cave"}`, `{"credHelpers":{"` + f.host + `":"cave"}}`} {
		path := filepath.Join(directory, "config.json")
		write(t, path, config)
		client := newClient(t, func(c *registry.Config) { c.DockerConfig = path })
		from, to := newStore(t), newStore(t)
		m := create(t, from, parse(t, f.host+"/a/model"), 1000)
		if err := client.Push(t.Context(), from, m.Name, nil); err != nil {
			t.Errorf("%s: %v", config, err)
			continue
		}
		if _, err := client.Pull(t.Context(), to, m.Name, nil); err != nil {
			t.Errorf("%s: %v", config, err)
			continue
		}
		expectSame(t, to, m)
	}
}
