//go:build !(llamacpp && cgo && linux)

package main

// reportOnSignal is for the soak, which needs a real model.
func reportOnSignal() {}
