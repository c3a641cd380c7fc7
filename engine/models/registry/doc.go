// Package registry fetches models from registries into a
// [store.Store], and sends them to registries.
//
// A registry is a server of the OCI distribution protocol, as container
// images use it: a manifest lists blobs by their digests, and blobs are
// fetched by digest. Ollama's registry and Hugging Face speak it too, each
// with habits of its own, which hosts.go and manifest.go know. A client here
// is oras-go for what all registries share (challenges, tokens, the
// credentials of docker, uploads) and our own requests for the two things
// that it leaves to its users: manifests whose replies lack the headers that
// the protocol asks for, and blobs of gigabytes.
//
// Such a blob comes in ranges over several connections. What has arrived is
// kept by [store.Partial] and never asked for again, whether the
// connection was cut, the program killed or the user had enough. A server
// that serves no ranges is read in one stream. A connection on which next to
// nothing arrives is dropped and made anew. A blob counts only after its
// digest was checked, and the manifest is put last: there is no moment at
// which half a model has a name.
//
// Nothing that a registry says is trusted: a manifest has limits, its digests
// become file names only after they were checked, and credentials go to the
// host that they were stored for and to the server of tokens that it names,
// and along no redirect to another.
package registry
