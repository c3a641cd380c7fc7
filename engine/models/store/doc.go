// Package store keeps models on disk, in the layout that Ollama uses:
//
//	manifests/HOST/NAMESPACE/MODEL/TAG   one JSON file per model: a [Manifest]
//	blobs/sha256-HEX                     what manifests name, by its digest
//	.diglot/                             locks, and what is half written
//
// A store that Ollama wrote can be used as it is, for reading alone where the
// user may not write, and Ollama reads what is written here: both see only
// manifests and blobs that are whole.
//
// Three rules keep a store whole when a process dies, or the power fails, at
// any moment:
//
//   - A file appears under its final name in one step: it is written in
//     .diglot, brought to the disk, and renamed.
//   - A blob is there before the manifest that names it, and a manifest is
//     gone before its blobs.
//   - A blob is removed by [Store.Collect] alone, which runs only while no
//     [Change] is under way in any process.
//
// So the worst that a crash leaves is a blob that nothing names, or the part
// of a download, which a [Partial] continues.
//
// Names and digests come from clients and from other people's registries.
// Both are checked, character by character, before they become part of a
// path: see [ParseName].
package store
