// Package safetensors reads and writes safetensors files: the length of a JSON
// header as 8 bytes, the header, and the data of the tensors.
//
// Headers are read as hostile: the native code behind trusts them.
package safetensors
