// Package modelfile reads and writes Modelfiles, and creates models from them:
//
//	FROM qwen2.5:0.5b
//	PARAMETER num_ctx 4096
//	SYSTEM You answer in one sentence.
//
// The format is Ollama's. FROM names a stored model, a GGUF file, or the URL of a
// remote server; the other lines are defaults for requests. [Create] turns a
// Modelfile into a manifest and blobs, [Of] turns a manifest back into a
// Modelfile, and [Read] reads a manifest for serving.
//
// Modelfiles and manifests are not trusted: reading one opens no other file and
// no connection, they cannot contain keys, and their sizes are bounded.
package modelfile
