package registry

// host describes how a registry deviates from the protocol.
type host struct {
	api string // host of the API, if another one

	// tokens: its challenges name no token server. The password of the Docker
	// login is sent as a bearer token.
	tokens bool

	logins []string // hosts under which a login may be stored, besides api

	// ollama: request manifests exactly as Ollama does. Hugging Face generates
	// manifests in the format of the client.
	ollama bool

	push string // why pushes are impossible; empty: they are not
}

const noPushToHub = "it accepts files only through git and its own tools"

// hosts are the exceptions. hf.co redirects every request to huggingface.co,
// to which a login for hf.co would not follow. docker.io is only a name.
var hosts = map[string]host{
	"hf.co":          {api: "huggingface.co", tokens: true, ollama: true, logins: []string{"hf.co"}, push: noPushToHub},
	"huggingface.co": {tokens: true, ollama: true, logins: []string{"hf.co"}, push: noPushToHub},
	"docker.io":      {api: "registry-1.docker.io"},
	"registry.ollama.ai": {
		ollama: true,
		push:   "it accepts models only from Ollama, which signs its requests",
	},
}

// hostOf returns the description of a registry.
func hostOf(name string) host {
	h := hosts[name]
	if h.api == "" {
		h.api = name
	}
	return h
}
