// Package store keeps models on disk, in Ollama's layout:
//
//	manifests/HOST/NAMESPACE/MODEL/TAG   one JSON file per model: a [Manifest]
//	blobs/sha256-HEX                     config and layers, by digest
//	.diglot/                             locks and unfinished writes
//
// diglot and Ollama can share a store: each sees only complete manifests and
// blobs of the other. A store without write permission can be read.
//
// Three rules keep a store consistent when a process dies or the power fails:
//
//   - A file is written in .diglot, synced, and then renamed to its final name.
//   - A blob exists before the first manifest that names it, and outlives the
//     last one.
//   - Only [Store.Collect] removes blobs, and only while no process has a
//     [Change] open.
//
// So a crash leaves at worst an unreferenced blob, or an unfinished download,
// which a [Partial] resumes.
//
// Names and digests come from clients and from registries, so both are checked
// before they become part of a path: see [ParseName].
package store
