package registry

import (
	"fmt"
	"testing"

	"github.com/diglot/diglot/engine/models/store"
)

// TestPublic leaves out where files were, and nothing else.
func TestPublic(t *testing.T) {
	const digest = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	layer := func(from string) string {
		return fmt.Sprintf(`{"digest":%q,%s"kept":"it is","size":1}`, digest, from)
	}
	for _, tt := range []struct {
		name, from string
		gone       bool
	}{
		{"none", ``, false},
		{"empty", `"from":"",`, false},
		{"a model", `"from":"org/base:7b",`, false},
		{"a model of another registry", `"from":"hf.co/org/base:Q4_K_M",`, false},
		{"a path", `"from":"/home/someone/secret/model.gguf",`, true},
		{"a path on Windows", `"from":"C:\\Users\\someone\\model.gguf",`, true},
		{"a path below a home", `"from":"~/model.gguf",`, true},
		{"a path from a directory", `"from":"./model.gguf",`, true},
		{"a path from the one above", `"from":"../someone/model.gguf",`, true},
		{"another spelling", `"From":"/home/someone/model.gguf",`, true},
	} {
		for _, place := range []string{`{"config":%[2]s,"layers":[%[1]s],"maker":"x"}`, `{"config":%[1]s,"layers":[%[2]s,%[2]s],"maker":"x"}`} {
			raw := fmt.Sprintf(place, layer(tt.from), layer(""))
			manifest, err := store.ParseManifest([]byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			got, err := public(&store.Model{Manifest: manifest, Raw: []byte(raw)})
			if err != nil {
				t.Fatal(err)
			}
			want := raw
			if tt.gone {
				want = fmt.Sprintf(place, layer(""), layer(""))
			}
			if string(got) != want {
				t.Errorf("%s: it is\n%s\nwant\n%s", tt.name, got, want)
			}
		}
	}
}
