package registry

// host is what is known of a registry that does not keep to the protocol in
// everything.
type host struct {
	api string // the host that answers requests, where it is another one

	// tokens: its challenges name no server that gives tokens. What the
	// docker config has as the password of a login is sent as it is.
	tokens bool

	logins []string // hosts under which a login may be stored, besides api

	// ollama: a manifest is asked for exactly as Ollama does it. Hugging Face
	// makes manifests on request, in the packing of whoever asks.
	ollama bool

	push string // why nothing can be pushed there; empty where it can
}

const noPushToHub = "it takes files through git and its own tools alone, not from a client of registries"

// hosts are the exceptions. hf.co sends every request on to huggingface.co,
// where a login for hf.co would not be sent any more, so that requests go to
// the second one at once. docker.io is a name that only clients know.
var hosts = map[string]host{
	"hf.co":          {api: "huggingface.co", tokens: true, ollama: true, logins: []string{"hf.co"}, push: noPushToHub},
	"huggingface.co": {tokens: true, ollama: true, logins: []string{"hf.co"}, push: noPushToHub},
	"docker.io":      {api: "registry-1.docker.io"},
	"registry.ollama.ai": {
		ollama: true,
		push:   "it takes models only from Ollama's own program, which signs its requests with a key of its own",
	},
}

// hostOf returns what is known of the registry with that name.
func hostOf(name string) host {
	h := hosts[name]
	if h.api == "" {
		h.api = name
	}
	return h
}
