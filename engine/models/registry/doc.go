// Package registry pulls models from registries into a [store.Store], and
// pushes them.
//
// Registries speak the OCI distribution protocol. Ollama's and Hugging Face's
// deviate from it: see hosts.go and manifest.go. oras-go does challenges,
// tokens, Docker's credentials and uploads. Manifests are fetched here, because
// some registries omit headers that oras-go requires, and so are blobs, because
// they have gigabytes.
//
// Blobs are downloaded in ranges over several connections, or in one stream
// from a server without range support. [store.Partial] keeps what arrived, so
// nothing is downloaded twice, even after a crash. Stalled connections are
// replaced. The digest of each blob is checked, and the manifest is written
// last, so that no name refers to an incomplete model.
//
// Registries are not trusted: manifests are bounded, digests are checked before
// they become file names, and credentials are sent only to their host and its
// token server, and never follow a redirect to another host.
package registry
